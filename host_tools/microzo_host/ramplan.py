"""What a training run takes on a board before anything is sent: RAM, flash, MACs, what fits.

The parts of the run come from the device package itself (``Trainer.plan``); what surrounds it on a
board (interpreter, loaded code, collector's tables) is counted here by figures measured on the
emulated boards; tests hold the sum to the measured peak within 2 %.
"""

import dataclasses
import json
import pathlib
from array import array

import microzo
import microzo.checkpoint
import microzo.journal
import microzo.layout
import microzo.plan
import microzo.program
import microzo.record
import microzo.trainer

from . import board_info, push
from .demo import session

L = microzo.layout

STATIC = 1264  # data and bss of MicroPython
STACK = 8192  # set aside for the stack
STACK_USED = 5712  # deepest use while training
HEAP_SHARE = 128 / 131  # of the heap's region; the collector's tables take the rest
BOOT = 9200  # heap of the interpreter, the file system and a script like train.py
CODE_FACTOR = 1.57  # heap of a loaded module over the size of its .mpy
NATIVE_EXTRA = 500  # heap of the loaded native module beyond the size of its .mpy
AFTER_CACHE = 2048  # what a run still takes when the cache has its share: guard, file buffers

# Modules that are loaded beside those every run needs.
ALWAYS = (
    "__init__ backend cache clock dataset files guard layout memory model plan record "
    "report sampling schedule stages trainer journal checkpoint replayer watch"
).split()
BY_KIND = {"realign": ["realign"], "spsa": ["zo"], "head": ["grad", "gradient", "rate"]}
BY_KIND["tail"] = BY_KIND["head"]

BOARDS = {"mps2-an386-256K": 256 << 10, "mps2-an386-1M": 1 << 20, "RPI_PICO": 264 << 10}


@dataclasses.dataclass
class Prediction:
    """``parts``: heap, stack and static bytes by name; ``peak`` their sum; ``flash``: bytes of
    files by name; MACs by stage."""

    recipe: str
    ram: int
    parts: dict
    flash: dict
    peak: int
    fits: bool
    macs_forward: int
    macs_step: dict
    layers: list
    notes: list


def predict(path, recipe="default", layers="auto", samples=256, ram=BOARDS["mps2-an386-256K"]):
    """The Prediction for a model file, training with a journal on labelled samples."""
    model = microzo.load(str(path))
    heap = int((ram - STATIC - STACK) * HEAP_SHARE)
    fixed = {
        "interpreter and script": BOOT,
        "native module": _native(),
        "package": _code(ALWAYS + _stage_code(recipe)),
        "model file": model.plan[L.BLOB_LEN] + 4 * len(model.plan),
    }
    program = _resolve(model, recipe, layers, samples, heap - sum(fixed.values()))
    needs = microzo.program.needs(model, program, False)
    used = sum(fixed.values()) + sum(needs.values())
    room = heap - used - microzo.trainer._CACHE_RESERVE + AFTER_CACHE
    cache = min(_cache_wanted(model, program), max(0, room))
    parts = {
        "data and bss": STATIC, "stack": STACK_USED, **fixed, **needs,
        "cache of prefixes": cache,
    }  # fmt: skip
    parts = {name: size for name, size in parts.items() if size}
    fits = used + microzo.trainer._RESERVE <= heap
    flash = _flash(model, path, program, needs)
    return Prediction(
        program["recipe"], ram, parts, flash, sum(parts.values()), fits,
        _macs(model.plan, 0), {kind: n for kind, n in _step_macs(model.plan, program)},
        _layers(model.plan), [*program["notes"], _flash_note(flash)],
    )  # fmt: skip


def _flash(model, path, program, needs):
    """Bytes of the files that are pushed, and of those that a run writes at its end."""
    chosen = board_info.choose_module(session.BOARD, push.built_modules())
    size = pathlib.Path(path).stat().st_size
    state = microzo.checkpoint.HEADER_LEN + needs["trained values"]
    return {
        "package": sum(map(len, push.package_files().values())),
        "native module": chosen.stat().st_size if chosen else 0,
        "model": size,
        "adapted model": size,
        "journal": journal_bytes(model.plan, program),
        "checkpoints": 3 * state + 2 * needs["gradients"],
    }


def _flash_note(flash):
    parts = ", ".join(f"{name} {size:,}" for name, size in flash.items())
    return f"flash {sum(flash.values()):,} bytes: {parts}"


def journal_bytes(plan, program):
    """Length of the journal of a whole run (SPEC.md, section 5)."""
    payloads = [plan[L.N_OPS], len(json.dumps(program)), 4]  # LAYOUT, RECIPE, END
    for stage in program["stages"]:
        payloads += [16, 16, 16] if stage["guard"] else [16, 16]  # STAGE, MARK, KEEP
        if stage["kind"] == "realign":
            payloads += [12 * plan[L.op_base(op) + L.OUT_C] for op in stage["ops"]]
        elif stage["kind"] == "spsa":
            payloads += [2 * stage["probes"]] * stage["steps"]
        else:
            payloads += [4 + 2 * stage["batch"]] * stage["steps"]
    frame = microzo.record.HEADER + microzo.record.CRC
    return microzo.journal.HEADER_LEN + sum(payloads) + frame * len(payloads)


def _resolve(model, recipe, layers, samples, room):
    made = microzo.recipe(recipe)
    room = max(0, room - microzo.trainer._RESERVE)
    return microzo.program.resolve(model, made, layers, samples, True, None, room, False)


def _stage_code(recipe):
    """Modules that the stages of a recipe load."""
    kinds = [stage["kind"] for stage in microzo.recipe(recipe)["stages"]]
    return sorted({name for kind in kinds for name in BY_KIND[kind]})


def _code(names):
    """Heap of loaded modules, from the sizes of their .mpy files."""
    files = {pathlib.PurePosixPath(t).stem: len(d) for t, d in push.package_files().items()}
    return int(CODE_FACTOR * sum(files.get(name, 0) for name in names))


def _native():
    """Heap of the loaded native module of the emulated board; others differ a little."""
    chosen = board_info.choose_module(session.BOARD, push.built_modules())
    return chosen.stat().st_size + NATIVE_EXTRA if chosen else 0


def _cache_wanted(model, program):
    """Bytes that hold the prefixes of all samples, of the stage that wants most."""
    most = 0
    for stage in program["stages"]:
        plan = array("i", model.plan)
        first = stage.get("first", 0)
        pins = ()
        if stage["kind"] in ("head", "tail"):
            ops = [i for i in (stage["conv"], stage["head"]) if i >= 0]
            first, pins = ops[0], ops[:-1]
        microzo.plan.layout(plan, first, pins)
        most = max(most, plan[L.PIN_LEN] * program["train"])
    return most


def _macs(plan, first):
    return sum(microzo.plan.macs(plan, L.op_base(i)) for i in range(first, plan[L.N_OPS]))


def _step_macs(plan, program):
    """(kind, multiply-accumulates of a step) with every prefix in the cache."""
    for stage in program["stages"]:
        kind = stage["kind"]
        if kind == "realign":  # on average: operators 0..op for every sample
            passes = sum(_macs(plan, 0) - _macs(plan, op + 1) for op in stage["ops"])
            yield kind, program["samples"] * passes // len(stage["ops"])
        elif kind == "spsa":
            yield kind, 2 * stage["probes"] * stage["samples"] * _macs(plan, stage["first"])
        else:
            first = stage["conv"] if stage["conv"] >= 0 else stage["head"]
            yield kind, 2 * stage["batch"] * _macs(plan, first)


def _layers(plan):
    rows = []
    for i, o in enumerate(microzo.plan.bases(plan)):
        rows.append({
            "op": i,
            "kind": L.KIND_NAMES[plan[o + L.KIND]],
            "output": [plan[o + w] for w in (L.OUT_H, L.OUT_W, L.OUT_C)],
            "macs": microzo.plan.macs(plan, o),
        })  # fmt: skip
    return rows
