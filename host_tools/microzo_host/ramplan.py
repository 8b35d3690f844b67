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
import microzo.opening
import microzo.options
import microzo.plan
import microzo.program
import microzo.record
import microzo.selection
import microzo.stages
import microzo.trainer

from . import board_info, loaded, push
from .demo import session

L = microzo.layout

STATIC = 1264  # data and bss of MicroPython
STACK = 8192  # set aside for the stack
STACK_USED = 6328  # deepest use while training
HEAP_SHARE = 128 / 131  # of the heap's region; the collector's tables take the rest
BOOT = 9200  # heap of the interpreter, the file system and a script like train.py
CODE_FACTOR = 1.507  # heap of a loaded module over the size of its .mpy
RUNNING = 7000  # open files, small objects, names of code that is forgotten
NATIVE_EXTRA = 500  # heap of the loaded native module beyond the size of its .mpy


@dataclasses.dataclass(frozen=True)
class Target:
    """A board: bytes of RAM, its core as the bench names it, its clock in Hz."""

    ram: int
    core: str = "m4"
    clock: int = 25_000_000


BOARDS = {
    "mps2-an386-256K": Target(256 << 10),
    "mps2-an386-1M": Target(1 << 20),
    "RPI_PICO": Target(264 << 10, "m0plus", 125_000_000),
}
DEFAULT_BOARD = "mps2-an386-256K"


@dataclasses.dataclass
class Prediction:
    """What `microzo plan --json` writes; docs/import.md tells what each field is."""

    recipe: str
    ram: int
    romfs: bool
    samples: int
    parts: dict
    flash: dict
    peak: int
    cached_sample: int
    needed: int
    fits: bool
    macs_forward: int
    macs_step: dict
    stages: list
    layers: list
    notes: list


def predict(path, recipe="default", layers="auto", samples=256, ram=256 << 10, romfs=False):
    """The Prediction for a model file, training with a journal on labelled samples.

    recipe: a name or a dict. romfs: the board maps the file from ROMFS, so that its weights take
    no RAM. ValueError if the recipe can train nothing of this model.
    """
    model = microzo.load(str(path))
    recipe = microzo.recipe(recipe) if isinstance(recipe, str) else recipe
    heap = _heap(ram)
    fixed = _fixed(model, recipe, romfs)
    space = room(model, recipe, ram, romfs)
    program = _resolve(model, recipe, layers, samples, space)
    needed = needs(model, program)
    used = sum(fixed.values()) + RUNNING + sum(needed.values())
    after = needed["sample buffers"] // 2  # which a run takes after the cache has its share
    passing = _passing(model.plan, program, needed["trained values"])
    free = heap - used + after - microzo.trainer._CACHE_RESERVE
    cache, cached_sample = _cache(model, program, free, passing)
    parts = {
        "data and bss": STATIC, "stack": STACK_USED, **fixed, "files and objects": RUNNING,
        **needed, "cache of prefixes": cache,
    }  # fmt: skip
    parts["statistics and records"] -= passing
    parts = {name: size for name, size in parts.items() if size}
    return Prediction(
        recipe=program["recipe"],
        ram=ram,
        romfs=romfs,
        samples=program["samples"],
        parts=parts,
        flash=_flash(model, path, program, needed, romfs),
        peak=sum(parts.values()),
        cached_sample=cached_sample,
        needed=ram - space + sum(needed.values()),
        fits=sum(needed.values()) <= space,
        macs_forward=_macs(model.plan, 0),
        macs_step=largest(_step_macs(model.plan, program)),
        stages=program["stages"],
        layers=_layers(model.plan),
        notes=program["notes"],
    )


def _passing(plan, program, state):
    """Bytes that are needed only while the buffers of a shaped stage are made, or while filters
    are, before the peak."""
    shaped = [stage for stage in program["stages"] if microzo.stages.shaped(stage)]
    if shaped:
        return max(max(microzo.options.buffers(plan, s, state)) for s in shaped)
    made = [microzo.program.realign_buffers(plan, s) for s in program["stages"] if "alpha" in s]
    return max(made, default=0) - min(made, default=0)


def largest(pairs):
    """{kind: figure} of (kind, figure) pairs, the largest of several."""
    found = {}
    for kind, n in pairs:
        found[kind] = max(n, found.get(kind, 0))
    return found


def room(model, recipe, ram, romfs):
    """Bytes that a board has for what a recipe (a dict) needs: the heap without code, model,
    reserve. It is measured there while the code that chooses the program is loaded."""
    fixed = sum(_fixed(model, recipe, romfs).values()) + _code(loaded.PLANNING)
    return _heap(ram) - fixed - microzo.opening.RESERVE


def needs(model, program):
    """program.needs of a run with a journal, and an arena that loading has made already."""
    made = microzo.program.needs(model, program, False)
    made["activations"] = max(made["activations"], len(model.arena))
    return made


def _heap(ram):
    return int((ram - STATIC - STACK) * HEAP_SHARE)


def _fixed(model, recipe, romfs):
    return {
        "interpreter and script": BOOT,
        "native module": _native(),
        "package": _code(loaded.modules(recipe["stages"])),
        "plan": 4 * len(model.plan),
        "weights": 0 if romfs else model.plan[L.BLOB_LEN],
    }


def _flash(model, path, program, needs, romfs):
    """Bytes of the files that are pushed, and of those that a run writes."""
    chosen = board_info.choose_module(session.BOARD, push.built_modules())
    size = pathlib.Path(path).stat().st_size
    state = microzo.checkpoint.HEADER_LEN + needs["trained values"]
    return {
        "package": sum(map(len, push.package_files().values())),
        "native module": chosen.stat().st_size if chosen else 0,
        "model in ROMFS" if romfs else "model": size,
        "adapted model": size,
        "journal": journal_bytes(model.plan, program),
        "checkpoints": 3 * state + 2 * needs["gradients"],
    }


def journal_bytes(plan, program):
    """Length of the journal of a whole run (SPEC.md, section 5)."""
    payloads = [plan[L.N_OPS], len(json.dumps(program)), 4]  # LAYOUT, RECIPE, END
    for stage in program["stages"]:
        kind = stage["kind"]
        longer = kind == "node" or microzo.stages.shaped(stage)
        payloads.append((24 if longer else 16) + 2 * len(stage.get("operators", ())))  # STAGE
        payloads += [16, 16] if stage["guard"] else [16]  # MARK, KEEP
        if kind == "refilter":
            first = L.op_base(0)
            payloads.append(2 * plan[first + L.OUT_C] * microzo.plan.row_len(plan, first))
        if kind in microzo.stages.REALIGN:
            payloads += [12 * plan[L.op_base(op) + L.OUT_C] for op in stage["ops"]]
        elif kind in ("spsa", "entropy"):
            each = 4 if stage.get("guided") else 2
            payloads += [each * stage["probes"]] * stage["steps"]
        elif kind == "elastic":
            pairs = stage["probes"] * stage["samples"]
            payloads += [4 + 2 * stage["probes"] + 2 * pairs] * stage["steps"]
        else:
            payloads += [4 + 2 * stage["batch"]] * stage["steps"]
    frame = microzo.record.HEADER + microzo.record.CRC
    return microzo.journal.HEADER_LEN + sum(payloads) + frame * len(payloads)


def _resolve(model, recipe, layers, samples, room):
    made = microzo.program.resolve(model, recipe, layers, samples, True, None, max(0, room), False)
    if layers == "auto" and any(stage.get("pick") for stage in recipe["stages"]):
        made["notes"].append("pick chooses among the operators on the board: this is the most")
    return made


def _code(names):
    """Heap of loaded modules, from the sizes of their .mpy files."""
    files = {pathlib.PurePosixPath(t).stem: len(d) for t, d in push.package_files().items()}
    return int(CODE_FACTOR * sum(files.get(name, 0) for name in names))


def _native():
    """Heap of the loaded native module of the emulated board; others differ a little."""
    chosen = board_info.choose_module(session.BOARD, push.built_modules())
    return chosen.stat().st_size + NATIVE_EXTRA if chosen else 0


def _cache(model, program, room, passing):
    """(bytes of cached prefixes, in whole samples; bytes of one of them) of the stage that takes
    most of `room`. Stages behind realign have the bytes that were only `passing`, too."""
    most = 0, 0
    for stage in program["stages"]:
        if stage["kind"] not in microzo.stages.REALIGN:
            room += passing
            passing = 0
        plan = array("i", model.plan)
        first = stage.get("first", 0)
        pins = ()
        if "conv" in stage:
            pins = (stage["conv"],) if stage["conv"] >= 0 else ()
            first = (*pins, stage["head"])[0]
        microzo.plan.layout(plan, first, pins)
        size = plan[L.PIN_LEN]
        trained = program["samples" if stage["kind"] in microzo.stages.REALIGN else "train"]
        most = max(most, (size * min(trained, max(0, room) // size), size))
    return most


def _macs(plan, first):
    return sum(microzo.plan.macs(plan, L.op_base(i)) for i in range(first, plan[L.N_OPS]))


def _op_macs(plan, op):
    return microzo.plan.macs(plan, L.op_base(op)) if op >= 0 else 0


def _step_macs(plan, program):
    """(kind, multiply-accumulates of a step) with every prefix in the cache; a gradient counts
    as a pass of its operator."""
    for stage in program["stages"]:
        kind = stage["kind"]
        if kind in microzo.stages.REALIGN:  # on average: operators 0..op for every sample
            passes = sum(_macs(plan, 0) - _macs(plan, op + 1) for op in stage["ops"])
            yield kind, program["samples"] * passes // len(stage["ops"])
        elif kind in ("spsa", "elastic", "entropy"):
            passes = 2 * stage["probes"] if stage["sides"] == 2 else stage["probes"] + 1
            head = stage["probes"] * _op_macs(plan, stage.get("head", -1))
            # entropy computes the sums that it compares, then runs the operator
            sums = passes * _op_macs(plan, stage.get("seen", -1))
            yield kind, stage["samples"] * (passes * _macs(plan, stage["first"]) + head + sums)
        elif kind == "node":
            conv, several = stage["conv"], stage.get("operators")
            behind = microzo.selection.kept(plan, conv)[-1] + 1  # where the probes of one start
            noisy = _macs(plan, conv if several else behind)
            passes = _macs(plan, conv) + 2 * stage["probes"] * noisy
            made = sum(_op_macs(plan, op) for op in [*(several or [conv]), stage["head"]])
            yield kind, stage["batch"] * (passes + made)
        else:
            conv, head = stage["conv"], stage["head"]
            gradients = _op_macs(plan, conv) + _op_macs(plan, head)
            yield kind, stage["batch"] * (_macs(plan, conv if conv >= 0 else head) + gradients)


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
