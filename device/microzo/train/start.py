"""How a run begins: the best program whose buffers can be had, the buffers, the journal.

Functions of a Trainer (t), apart from it because a board forgets this code once a run has begun.
"""

import json

from .. import forget
from ..board import files, memory
from ..data import draw as sampling
from ..journal import file as journals
from ..journal import record
from ..methods import stages
from . import replay as replayer

# Bytes of a board's heap that a run leaves to files and small objects, less this code.
RESERVE = 12288


def plan(t, samples, labelled):
    """Trainer.plan."""
    from ..net import tables
    from ..recipes import resolve as program

    forget("net.tables")
    program.check(t.recipe)
    stages.load_code(t.recipe["stages"])
    made, _ = _resolve(t, samples, labelled, None, _room(t))
    needed = program.needs(t.model, made, t._journal is None)
    return tables.MemoryPlan(needed, t._cache, made["notes"])


def _room(t):
    if t.ram is not None:
        return t.ram
    free = memory.free()
    return None if free is None else max(0, free + len(t.model.arena) - RESERVE)


def _resolve(t, total, labelled, steps, room):
    from ..recipes import resolve as program

    double = t._journal is None
    made = program.resolve(t.model, t.recipe, t.layers, total, labelled, steps, room, double)
    needed = sum(program.needs(t.model, made, double).values())
    if room is not None and needed > room:
        raise memory.too_little("recipe %s" % made["recipe"], needed)
    return made, needed


def start(t, data, steps):
    """Program, state, arena and journal of a new run."""
    from ..recipes import resolve as program

    program.check(t.recipe)
    program = None
    notes = _pick(t, data)
    stages.load_code(t.recipe["stages"])
    room = _room(t)
    labelled = sampling.labels_of(data, bytearray(t.model.sample_len))
    while True:
        made, needed = _resolve(t, len(data), labelled, steps, room)
        made["notes"] += notes
        memory.free()  # so that the text lies low in the heap, where a stale pointer may keep it
        text = json.dumps(made)
        made = None
        memory.free()  # what planning left behind makes no holes between the large buffers
        t.program = json.loads(text)
        text = None
        memory.free()
        try:
            allocate(t)
            break
        except MemoryError:
            room = needed - 1  # free, but in pieces: try what needs less
            t.model.reset()
            t._gradient = t._mark = None
    if t._journal is not None:
        _create_journal(t, data)
    t.at = replayer.Position()


def _pick(t, data):
    """Sets `layers` if a stage asks for a choice and the user made none; what to note."""
    if t.layers != "auto" or not any(s.get("pick") for s in t.recipe["stages"]):
        return []
    from ..search import layers as picker

    t.layers, note = picker.pick(t, data)
    forget("search.layers")
    return [note]


def allocate(t):
    """The large buffers of all stages, largest first, while the heap is whole."""
    pairs, activations = _sizes(t)
    for name in ("recipes.resolve", "net.trainable", "recipes.allocate"):
        forget(name)  # not needed again: the code makes room
    memory.free()
    for spec in t.program["stages"]:
        if spec["kind"] in stages.GRADIENTS:
            t._gradient = None
            t._gradient = stages.new_gradient(
                t.model, spec.get("conv", -1), spec["head"], spec.get("operators", ())
            )
    t.model.place(pairs)
    if t.program["stages"][-1]["kind"] == "node":
        t._gradient.nodes()
    if t._journal is None:
        t._mark = memory.take("the copy for roll-back", len(t.model.state))
    t.model.reserve(activations)


def _sizes(t):
    """(what is trained, bytes of the activations)."""
    from ..recipes import resolve as program

    needed = program.needs(t.model, t.program, False)
    return program.selections(t.program), needed["activations"]


def _create_journal(t, data):
    model = t.model
    for path in t.checkpoints():
        files.remove(path)
    live = getattr(data, "live", False)  # samples that will not come again have no hash
    data_hash = 0 if live else sampling.fingerprint(model.k, data, bytearray(model.sample_len))
    text = json.dumps(t.program).encode()
    rec = record.new(record.RECIPE, len(text), t._node)
    record.payload(rec)[:] = text
    crc = model.k.crc32(text, 0, len(text))
    header = journals.new_header(model, t.seed, t._node, data_hash, crc)
    t._run_crc = replayer.run_crc(model.k, header)
    layout = replayer.layout_record(model, t._node)
    journals.create(model.k, t._journal, header, (layout, rec))
    t._writer = journals.Writer(model.k, t._journal, t._sync_every)
