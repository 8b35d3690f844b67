"""What a training run takes on a board before anything is sent: RAM, flash, MACs, what fits.

The parts of the run come from the device package itself (``Trainer.memory``); what surrounds it on
a board (interpreter, loaded code, collector's tables) is counted here by figures measured on the
emulated boards; tests hold the sum to the measured peak within 2 %.
"""

import dataclasses
import json
import pathlib
from array import array

import microzo
from microzo.journal import checkpoint
from microzo.methods import method
from microzo.net import arena
from microzo.net import words as L
from microzo.recipes import resolve
from microzo.train import engine, start

from ..board import info as board_info
from ..board import push
from ..demo import session
from . import loaded, work

STATIC = 1264  # data and bss of MicroPython
STACK = 8192  # set aside for the stack
STACK_USED = 6328  # deepest use while training
HEAP_SHARE = 128 / 131  # of the heap's region; the collector's tables take the rest
BOOT = 9200  # heap of the interpreter, the file system and a script like train.py
CODE_FACTOR = 1.507  # heap of a loaded module over the size of its .mpy
MODULE = 300  # heap of a module's object, names and place in its package
RUNNING = 8500  # open files, small objects, names of code that is forgotten
NATIVE_EXTRA = 500  # heap of the loaded native module beyond the size of its .mpy


@dataclasses.dataclass(frozen=True)
class Target:
    """A board: bytes of RAM, its core as the bench names it, its clock in Hz. Of a board that is
    bought: the RAM of an emulated one whose heap has as many bytes free at the prompt."""

    ram: int
    core: str = "m4"
    clock: int = 25_000_000


# RP2040 has 264 KB. Its firmware leaves a heap of 246,144 bytes with 242,016 free; 256 KB of an
# emulated board leave 246,848 with 244,144 free (MicroPython 1.25; tests/board/test_pico.py).
PICO_RAM = (256 << 10) - round((244144 - 242016) / HEAP_SHARE)
BOARDS = {
    "mps2-an386-256K": Target(256 << 10),
    "mps2-an386-1M": Target(1 << 20),
    "RPI_PICO": Target(PICO_RAM, "m0plus", 125_000_000),
}
DEFAULT_BOARD = "mps2-an386-256K"


@dataclasses.dataclass
class Prediction:
    """What `microzo plan --json` writes; docs/reference/plan.md tells what each field is."""

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


def predict(
    path, recipe="default", layers="auto", samples=256, ram=256 << 10, romfs=False, core="m4"
):
    """The Prediction for a model file, training with a journal on labelled samples.

    recipe: a name or a dict. romfs: the board maps the file from ROMFS, so that its weights take
    no RAM. core: a key of emulator.CORES; its native module counts. ValueError if the recipe can
    train nothing of this model.
    """
    model = microzo.load(str(path))
    recipe = microzo.recipe(recipe) if isinstance(recipe, str) else recipe
    space = room(model, recipe, ram, romfs, core)
    program = _resolve(model, recipe, layers, samples, space)
    return _predicted(path, model, program, recipe, ram, romfs, core)


def of_program(path, program, ram=256 << 10, romfs=False, core="m4"):
    """The Prediction for a run whose program is known: that of a journal."""
    return _predicted(path, microzo.load(str(path)), program, program, ram, romfs, core)


def _predicted(path, model, program, recipe, ram, romfs, core):
    """recipe: whose code is loaded."""
    heap = _heap(ram)
    fixed = _fixed(model, recipe, romfs, core)
    space = room(model, recipe, ram, romfs, core)
    needed = needs(model, program)
    used = sum(fixed.values()) + RUNNING + sum(needed.values())
    after = needed["sample buffers"] // 2  # which a run takes after the cache has its share
    passing = _passing(model, program, needed["trained values"])
    free = heap - used + after - engine.CACHE_RESERVE
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
        flash=_flash(model, path, program, needed, romfs, core),
        peak=sum(parts.values()),
        cached_sample=cached_sample,
        needed=ram - space + sum(needed.values()),
        fits=sum(needed.values()) <= space,
        macs_forward=work.pass_macs(model.plan),
        macs_step=largest(_step_macs(model.plan, program)),
        stages=program["stages"],
        layers=_layers(model.plan),
        notes=program["notes"],
    )


def _passing(model, program, state):
    """Bytes that are needed only while buffers of a stage are made, before the peak."""
    plan = array("i", model.plan)
    stages = [method(s["kind"]).memory(plan, s, state) for s in program["stages"]]
    passing = max((stage.get("passing", 0) for stage in stages), default=0)
    if passing:
        return passing
    statistics = [
        needs["buffers"]
        for needs, spec in zip(stages, program["stages"], strict=True)
        if spec.get("realigns")
    ]
    return max(statistics, default=0) - min(statistics, default=0)


def largest(pairs):
    """{kind: figure} of (kind, figure) pairs, the largest of several."""
    found = {}
    for kind, n in pairs:
        found[kind] = max(n, found.get(kind, 0))
    return found


def room(model, recipe, ram, romfs, core="m4"):
    """Bytes that a board has for what a recipe (a dict) needs: the heap without code, model,
    reserve. It is measured there while the code that chooses the program is loaded."""
    fixed = _fixed(model, recipe, romfs, core)
    fixed["package"] = _code(loaded.before(recipe["stages"], "window" in recipe))
    return _heap(ram) - sum(fixed.values()) - start.RESERVE


def needs(model, program):
    """What a run with a journal takes, by part."""
    return resolve.needs(model, program, False)


def _heap(ram):
    return int((ram - STATIC - STACK) * HEAP_SHARE)


def _fixed(model, recipe, romfs, core):
    return {
        "interpreter and script": BOOT,
        "native module": _native(recipe["stages"], core),
        "package": max(map(_code, loaded.during(recipe["stages"], "window" in recipe))),
        "plan": 4 * len(model.plan),
        "weights": 0 if romfs else model.plan[L.BLOB_LEN],
    }


def _flash(model, path, program, needs, romfs, core):
    """Bytes of the files that are pushed, and of those that a run writes."""
    size = pathlib.Path(path).stat().st_size
    state = checkpoint.HEADER_LEN + needs["trained values"]
    return {
        "package": sum(map(len, push.package_files().values())),
        "native module": sum(_module_sizes(core)),
        "model in ROMFS" if romfs else "model": size,
        "adapted model": size,
        "journal": work.journal_bytes(model.plan, program, len(json.dumps(program))),
        "checkpoints": 3 * state + 2 * needs["gradients"],
    }


def _resolve(model, recipe, layers, samples, room):
    made = microzo.recipes.resolve.resolve(
        model, recipe, layers, samples, True, None, max(0, room), False
    )
    if layers == "auto" and any(stage.get("pick") for stage in recipe["stages"]):
        made["notes"].append("pick chooses among the operators on the board: this is the most")
    return made


def _code(names):
    """Heap of loaded modules, from the sizes of their .mpy files."""
    files = {
        t[len(push.PACKAGE_TARGET) + 1 :].split(".")[0].replace("/", "."): len(d)
        for t, d in push.package_files().items()
    }
    return int(CODE_FACTOR * sum(files.get(name, 0) for name in names)) + MODULE * len(names)


def _native(stages, core):
    """Heap of the native module, and of the second one if a stage takes gradients."""
    sizes = _module_sizes(core)
    if not any(method(stage["kind"]).takes_gradients for stage in stages):
        sizes = sizes[:1]
    return sum(sizes) + NATIVE_EXTRA * len(sizes)


def _module_sizes(core):
    """Bytes of the native modules of a core; where they are not built, those of the emulated
    board; none where no module is built at all."""
    for name in (core, "m4"):
        chosen = board_info.choose_module(session.board_of(name), push.built_modules())
        if chosen:
            return [len(data) for _, data in push.with_second(chosen)]
    return []


def _cache(model, program, room, passing):
    """(bytes of cached prefixes, in whole samples; bytes of one of them) of the stage that takes
    most of `room`. Stages behind realign have the bytes that were only `passing`, too."""
    most = 0, 0
    for spec in program["stages"]:
        if not spec.get("realigns"):
            room += passing
            passing = 0
        plan = array("i", model.plan)
        method(spec["kind"]).memory(plan, spec, 0)  # lays out its arena
        size = plan[L.PIN_LEN]
        trained = program["samples" if spec.get("realigns") else "train"]
        most = max(most, (size * min(trained, max(0, room) // size), size))
    return most


def _step_macs(plan, program):
    """(kind, multiply-accumulates of a step) with every prefix in the cache; a gradient counts
    as a pass of its operator."""
    for spec in program["stages"]:
        steps = len(spec["ops"]) if spec.get("realigns") else spec["steps"]
        yield spec["kind"], work.stage_macs(plan, spec, work.seen(spec, program), False) // steps


def _layers(plan):
    rows = []
    for i, o in enumerate(arena.bases(plan)):
        rows.append({
            "op": i,
            "kind": L.KIND_NAMES[plan[o + L.KIND]],
            "output": [plan[o + w] for w in (L.OUT_H, L.OUT_W, L.OUT_C)],
            "macs": arena.macs(plan, o),
        })  # fmt: skip
    return rows
