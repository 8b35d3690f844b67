"""How a run begins: the best program whose buffers can be had, the buffers, the journal.

Apart from trainer.py because a board forgets this code once a run has begun.
"""

import json

from .. import leave
from ..board import files, memory
from ..data import draw
from ..journal import file as journals
from ..journal import record
from ..journal.begin import take_over
from ..methods import forget_declarations, forget_stages, method
from ..methods.stage import Run
from . import store

# Bytes of a board's heap that a run leaves to files and small objects, less this code; of live
# samples the code of all stages stays, too.
RESERVE = 12288
_LIVE_RESERVE = 4096


class Request:
    """What a user asks of a run: the arguments of Trainer."""

    def __init__(self, recipe, layers, seed, board_id, ram, journal, sync_every, checkpoint_every):
        self.recipe = recipe
        self.layers = layers
        self.seed = seed
        self.board_id = board_id
        self.ram = ram
        self.journal = journal
        self.sync_every = sync_every
        self.checkpoint_every = checkpoint_every

    def of(self, recipe, layers):
        """The same for a search: another recipe, other layers (None: the same), no journal."""
        layers = self.layers if layers is None else layers
        return Request(recipe, layers, self.seed, self.board_id, self.ram, None, 1, 1)


def memory_of(model, request, samples, labelled, cache, live=False):
    """The MemoryPlan of a run on so many samples, before anything is allocated; live: they come
    one by one."""
    from ..net.tables import MemoryPlan

    _check(request.recipe)
    if live:
        from .online import live

        request = request.of(live(request.recipe, model, memory.free()), None)
    _load_code(model, request.recipe["stages"])
    room = _room(model, request)
    program, needed = _resolve(model, request, samples, labelled, None, room)
    return MemoryPlan(needed, cache, program["notes"])


def _check(recipe):
    """Apart, as are all functions that use planning code: in a frame that lives on, a stale slot
    would keep that code."""
    from ..recipes import names

    names.check(recipe)


def _load_code(model, stages):
    """Imports what the stages need and forgets what chose them, so that what is free afterwards
    is free for data."""
    modules = ["data.cache"]
    gradients = False
    for stage in stages:
        gradients = gradients or method(stage["kind"]).takes_gradients
        modules += method(stage["kind"]).modules(stage)
        if stage["guard"] == "free":
            modules.append("train.free_guard")
    forget_declarations()
    leave("recipes")
    for name in modules:
        __import__("microzo." + name, None, None, ("x",))
    if gradients:
        model.k.head_grad  # a look is enough: kernel/gradients.py
    if model.k.__name__ == "microzo.kernel.python":
        model.k.hold(model.plan)  # they alone allocate


def _room(model, request):
    """Bytes for training, or None without a limit."""
    if request.ram is not None:
        return request.ram
    free = memory.free()
    return None if free is None else max(0, free + len(model.arena) - RESERVE)


def _resolve(model, request, total, labelled, steps, room):
    """(program, bytes it needs by part)."""
    from ..recipes import resolve

    double = request.journal is None
    program = resolve.resolve(
        model, request.recipe, request.layers, total, labelled, steps, room, double
    )
    needed = resolve.needs(model, program, double)
    if room is not None and sum(needed.values()) > room:
        raise memory.too_little("recipe %s" % program["recipe"], sum(needed.values()))
    return program, needed


def start(model, request, data, steps):
    """(Run, store) of a new run: program, state, arena, buffers, journal."""
    _check(request.recipe)
    request, notes = _pick(model, request, data)
    _load_code(model, request.recipe["stages"])
    room = _room(model, request)
    if room is not None and getattr(data, "live", False):
        room = max(0, room - _LIVE_RESERVE)
    labelled = draw.labels_of(data, bytearray(model.sample_len))
    while True:
        program, needed = _resolve(model, request, len(data), labelled, steps, room)
        program["notes"] += notes
        text = _texts(model, program)
        program = None
        run = Run(model, None, request.seed, request.board_id)
        try:
            place(run, text, getattr(data, "live", False))
            kinds = _stores(run, data)
            if request.journal is None:
                return run, kinds.RamStore(len(model.state))
            return run, _journal(run, request, data, kinds)
        except MemoryError:
            room = sum(needed.values()) - 1  # free, but in pieces: try what needs less
            run.close()
            model.place(())


def _stores(run, data):
    """What makes the store; live samples bring their own, and take their buffers."""
    if not getattr(data, "live", False):
        return store
    data.place(run)
    return data


def _texts(model, program):
    """JSON of the program and of what its buffers are. Texts, so that the objects that planning
    made can go before the buffers are taken."""
    from ..recipes import resolve

    pairs = resolve.trains(program)
    activations = resolve.needs(model, program, False)["activations"]
    gradients = [method(spec["kind"]).gradient(model.plan, spec) for spec in program["stages"]]
    return json.dumps(program), json.dumps((pairs, activations, gradients))


def place(run, texts, live=False):
    """The program of a run, and the large buffers of all stages, largest first, while the heap is
    whole; texts: of _texts. live: the stages come again and again, so that their code stays."""
    (forget_declarations if live else forget_stages)()
    leave("recipes")  # not needed again: the code makes room
    memory.free()  # what planning left behind makes no holes between the large buffers
    run.take_program(json.loads(texts[0]))
    pairs, activations, gradients = json.loads(texts[1])
    memory.free()
    for gradient in gradients:
        if gradient:
            run.gradient_for(*gradient)
    run.model.place(pairs)
    run.model.reserve(activations)


def _pick(model, request, data):
    """The request with the operators that a stage lets the search choose, and what to note."""
    if request.layers != "auto" or not any(s.get("pick") for s in request.recipe["stages"]):
        return request, []
    from ..search import layers

    ops, note = layers.pick(model, request, data)
    leave("search")
    chosen = Request(
        request.recipe, ops, request.seed, request.board_id, request.ram, request.journal,
        request.sync_every, request.checkpoint_every,
    )  # fmt: skip
    return chosen, [note]


def _journal(run, request, data, kinds):
    """The store over a new journal: header and RECIPE."""
    model = run.model
    path = request.journal
    take_over(path)
    for other in store.checkpoint_paths(path):
        files.remove(other)
        files.remove(files.temporary(other))
    live = getattr(data, "live", False)  # samples that will not come again have no checksum
    data_crc = 0 if live else draw.fingerprint(model.k, data, bytearray(model.sample_len))
    text = json.dumps(run.program).encode()
    rec = record.new(record.RECIPE, len(text), run.board_id)
    record.payload(rec)[:] = text
    crc = model.k.crc32(text, 0, len(text))
    header = journals.new_header(model, run.seed, run.board_id, data_crc, crc)
    journals.create(model.k, path, header, (rec,))
    kept = kinds.JournalStore(model.k, path, request.sync_every, request.checkpoint_every)
    kept.open(journals.run_crc(model.k, header))
    return kept


def prepare(run, program):
    """Code and buffers of a run whose program is known."""
    _load_code(run.model, program["stages"])
    place(run, _texts(run.model, program), "live" in program)


def resume(model, request, data):
    """(Run, store) of the run of a journal."""
    from . import replay

    path = request.journal
    take_over(path)
    reader = journals.Reader(model.k, path)
    try:
        reader.belongs_to(model)
        replay.check_data(reader, model, data)
        program = replay.program_of(reader, model, data)
        run = Run(model, None, reader.seed, reader.board_id)
    finally:
        reader.close()
    replay = None
    prepare(run, program)
    kinds = _stores(run, data)
    return run, kinds.JournalStore(model.k, path, request.sync_every, request.checkpoint_every)
