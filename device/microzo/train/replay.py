"""Rebuilds the trained state from a model, its journal and, for exact gradients, the data."""

from ..journal import checkpoint, record
from ..journal import file as journals
from ..methods import forget_stages
from ..methods.stage import Run
from .engine import make_stage
from .position import Position


def program_of(reader, model, data=None):
    """The resolved program in the RECIPE of a journal, its only home; ValueError if it has none
    that could be a run of the model, on the data that are given."""
    from ..data import draw
    from ..recipes import recorded

    payload = record.payload(_recipe(reader))
    if model.k.crc32(payload, 0, len(payload)) != reader.recipe_crc:
        raise ValueError("the journal is damaged: its RECIPE is not the one its header tells of")
    most, labelled = 4096, True
    if data is not None and not getattr(data, "live", False):
        most, labelled = len(data), draw.labels_of(data, bytearray(model.sample_len))
    return recorded.read(payload, model.plan, most, labelled)


def _recipe(reader):
    """The first record; the next one is that behind it."""
    reader.rewind()
    rec = reader.next()
    if rec is None or rec[0] != record.RECIPE:
        raise ValueError("%s ends before its first step, delete it and start again" % reader.path)
    return rec


def position_before(program):
    """The Position before a run of a program."""
    if "live" not in program:
        return Position(program)
    from .live_position import LivePosition

    return LivePosition(program)


def check_data(reader, model, data):
    """ValueError if the journal was written with other data."""
    from ..data import draw

    crc = 0  # of live samples
    if not getattr(data, "live", False):
        crc = draw.fingerprint(model.k, data, bytearray(model.sample_len))
    if crc != reader.data_crc:
        raise ValueError(
            "%s was trained with other data: give it the same, or delete it to start anew"
            % reader.path
        )


def replay_into(run, reader, data, checkpoints=()):
    """Brings the run's model to the state after the last whole record of a journal; (Position
    there, its Stage if one has begun). reader.end is then the end of that record.

    checkpoints: files that may shorten the way. A STAGE that waits for its MARK is left out: who
    goes on writes both again. ValueError if the journal is damaged.
    """
    if reader.state_len != len(run.model.state):
        raise ValueError(
            "the journal is damaged: its state has %d bytes, that of its recipe %d"
            % (reader.state_len, len(run.model.state))
        )
    at, begin, dead = scan(run, reader)
    end = reader.end
    for path, offset in candidates(run, reader, checkpoints, begin, end, dead):
        stage = _apply(run, reader, data, path, offset, end, dead)
        if stage is not False:
            return at, stage
    model = run.model
    model.k.init_state(model.plan, model.blob, model.state)
    return at, _apply(run, reader, data, None, begin, end, dead)


def scan(run, reader):
    """(Position after the last whole record, offset of the first one behind RECIPE, (MARK,
    ROLLBACK) offsets of what was rolled back)."""
    _recipe(reader)
    begin = reader.end
    at = position_before(run.program)
    dead = []
    mark = unmarked = begin
    while True:
        offset = reader.end
        rec = reader.next()
        if rec is None:
            if at.waits():
                reader.go_to(unmarked)
                at.forget_stage()
            return at, begin, dead
        at.take(rec)
        if rec[0] == record.STAGE:
            unmarked = mark = offset
        elif rec[0] == record.MARK:
            mark = offset
        elif rec[0] == record.ROLLBACK:
            dead.append((mark, offset))


def candidates(run, reader, paths, begin, end, dead):
    """(path, offset) of usable checkpoints, the latest first."""
    offsets = []
    for path in paths:
        offset = checkpoint.offset_of(path, run.model.k, reader.crc)
        alive = not any(mark < offset <= stop for mark, stop in dead)
        if begin <= offset <= end and alive:
            offsets.append((offset, path))
    offsets.sort(reverse=True)
    return [(path, offset) for offset, path in offsets]


def _apply(run, reader, data, path, start, end, dead):
    """Applies the live records of [start, end), after the checkpoint at `path`, if any. The stage
    that has begun, or None; False: a bad checkpoint.

    A stage is made when it is first needed: those before a checkpoint take no memory.
    """
    stage = last = None
    loaded = path is None
    at = position_before(run.program)
    _recipe(reader)
    while True:
        offset = reader.end
        needed = at.begun and (offset >= end or offset >= start and not loaded)
        if needed and stage is None:
            stage = make_stage(run, at)
        if offset >= start and not loaded:
            if not checkpoint.read(path, run.model, run.gradient):
                return False
            loaded = True
            if stage is not None and last is not None:
                stage.recall(last)
        if offset >= end:
            return stage
        rec = reader.next()
        if rec[0] == record.STEP or rec[0] == record.VALUES:
            last = rec
            if offset >= start and not any(mark < offset < stop for mark, stop in dead):
                if stage is None:
                    stage = make_stage(run, at)
                stage.replay(rec, data)
        else:
            last = None
            if stage is not None:
                stage.close()
                stage = None
                forget_stages()
        at.take(rec)


def replay(model, journal, data=None):
    """Brings `model` to the state the journal ends in, bit for bit.

    Returns True if the journal's END record confirms it, None if the run was not finished, False
    if they differ. ValueError: another model, other data, or exact gradients without data.
    """
    return model.exclusive(_replay, (journal, data))


def _replay(model, pair):
    journal, data = pair
    from .start import prepare

    reader = journals.Reader(model.k, journal)
    try:
        reader.belongs_to(model)
        if data is not None:
            model.check(data)
            check_data(reader, model, data)
        run = Run(model, None, reader.seed, reader.board_id)
        prepare(run, program_of(reader, model))
        at, _ = replay_into(run, reader, data)
    finally:
        reader.close()
    run.close()
    model.finish()
    if not at.finished:
        return None
    return model.k.crc32(model.state, 0, len(model.state)) == at.state_crc
