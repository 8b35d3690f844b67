"""Rebuilds the trained state from a model, its journal and, for exact gradients, the data."""

import json

from ..data import draw as sampling
from ..journal import checkpoint, record
from ..journal import file as journals
from ..methods import stages
from ..net import arena as planner
from ..net import words as L


class Position:
    """Where a run stands: stage `stage` has `begun`, `step` steps are done.

    outcomes: (kept, correct before, correct after, of how many) of the stages before.
    """

    def __init__(self, outcomes=()):
        self.stage = len(outcomes)
        self.begun = False
        self.step = 0
        self.outcomes = outcomes
        self.opening = None  # STAGE record of the stage that has begun
        self.last = None  # record of its last step
        self.correct = self.loss = self.total = 0  # of the stage's MARK
        self.finished = False

    def next(self, kept, correct, total):
        """The position before the next stage."""
        return Position(self.outcomes + ((kept, self.correct, correct, total),))


class Replayer:
    """Reads a journal and applies it to its model."""

    def __init__(self, model, path, data=None):
        self.model = model
        self.reader = journals.Reader(model.k, path)
        self.reader.belongs_to(model)
        self.run_crc = run_crc(model.k, self.reader.header)
        self.gradient = None
        self._data = data
        self._path = path
        first, second = self.reader.next(), self.reader.next()
        if (
            first is None
            or second is None
            or first[0] != record.LAYOUT
            or second[0] != record.RECIPE
        ):
            raise ValueError("%s ends before its first step, delete it and start again" % path)
        self._layout = first
        self.program = json.loads(bytes(record.payload(second)))
        self.begin = self.reader.end
        if data is not None:
            found = 0  # of live samples
            if not getattr(data, "live", False):
                found = sampling.fingerprint(model.k, data, bytearray(model.sample_len))
            if found != record.get32(self.reader.header, 20):
                raise ValueError(
                    "%s was trained with other data: give it the same, or delete it to start anew"
                    % path
                )

    def place(self):
        """Gives the model its trainable values, as the file has them."""
        self.model.place(layout_pairs(self._layout))

    def scan(self):
        """First pass: the Position after the last whole record; remembers what was rolled back.

        A STAGE that waits for its MARK is left out: who goes on writes both again.
        """
        at = Position()
        self._dead = []
        self._end_crc = None
        mark = 0
        unmarked = None
        self.reader.end = self.begin
        while True:
            offset = self.reader.end
            rec = self.reader.next()
            if rec is None:
                if unmarked is not None:
                    self.reader.end = unmarked
                return at
            kind = rec[0]
            if kind == record.STAGE:
                at.stage = record.get16(rec, 10)
                guarded = self.program["stages"][at.stage]["guard"]
                unmarked = offset if guarded else None
                at.begun = not guarded
                at.opening = rec
                at.last = None
                at.step = 0
            elif kind == record.MARK:
                mark = offset
                unmarked = None
                at.begun = True
                at.correct, at.loss, at.total = scores(rec)
            elif kind in record.STEPS:
                at.step = record.get32(rec, 4) + 1
                at.last = rec
            elif kind in (record.KEEP, record.ROLLBACK):
                if kind == record.ROLLBACK:
                    self._dead.append((mark, offset))
                correct, _, total = scores(rec)
                at = at.next(kind == record.KEEP, correct, total)
            elif kind == record.END:
                at.finished = True
                self._end_crc = record.get32(rec, record.HEADER)

    def restore(self, paths=()):
        """Second pass: state (and gradient buffers) after the last whole record. paths:
        checkpoints that may help."""
        end = self.reader.end
        for path, offset in self._candidates(paths, end):
            if self._apply(path, offset, end):
                return
        self.model.k.init_state(self.model.plan, self.model.blob, self.model.state)
        self._apply(None, self.begin, end)

    def _candidates(self, paths, end):
        found = []
        for path in paths:
            offset = checkpoint.offset_of(path, self.model.k, self.run_crc)
            alive = not any(mark < offset <= stop for mark, stop in self._dead)
            if self.begin <= offset <= end and alive:
                found.append((offset, path))
        found.sort(reverse=True)
        return [(path, offset) for offset, path in found]

    def _apply(self, path, start, end):
        """Applies the live records of [start, end); before, those that set a stage up. False:
        bad checkpoint."""
        model = self.model
        sample = bytearray(model.sample_len)
        applier = None
        loaded = path is None
        self.reader.end = self.begin
        while True:
            offset = self.reader.end
            if offset >= start and not loaded:
                if not checkpoint.read(path, model, self.gradient):
                    return False
                loaded = True
            if offset >= end:
                return True
            rec = self.reader.next()
            if rec[0] == record.STAGE:
                self.gradient = stages.gradient_for(model, rec, self.gradient) or self.gradient
                applier = stages.Applier(model, rec, self.gradient)
            elif rec[0] in record.STEPS and offset >= start:
                if not any(mark < offset < stop for mark, stop in self._dead):
                    applier.replay(rec, self._data, sample)

    def identical(self):
        """True if the state is the one the END record names; None if the journal has no end."""
        if self._end_crc is None:
            return None
        return self.model.k.crc32(self.model.state, 0, len(self.model.state)) == self._end_crc

    def close(self):
        self.reader.close()


def run_crc(k, header):
    """30 bits that tie checkpoints to a journal."""
    return k.crc32(header, 0, journals.HEADER_LEN - 4)


def layout_record(model, node):
    """LAYOUT: bits of layout.py for each operator."""
    rec = record.new(record.LAYOUT, model.ops, node)
    for op in range(model.ops):
        o = L.op_base(op)
        for bit, word in (
            (L.WEIGHTS, L.MASTER_OFF),
            (L.BIASES, L.BIAS_OFF),
            (L.MULTIPLIERS, L.MS_OFF),
        ):
            if planner.is_weighted(model.plan, o) and model.plan[o + word] >= 0:
                rec[record.HEADER + op] |= bit
    return rec


def layout_pairs(rec):
    view = record.payload(rec)
    return [(op, view[op]) for op in range(len(view)) if view[op]]


def scores(rec):
    """correct, loss, total of a MARK, KEEP or ROLLBACK record."""
    at = record.HEADER
    return record.get32(rec, at), record.get32(rec, at + 4), record.get32(rec, at + 8)


def replay(model, journal, data=None):
    """Brings `model` to the state the journal ends in, bit for bit.

    Returns True if the journal's END record confirms it, None if the run was not finished, False
    if they differ. ValueError: another model, other data, or exact gradients without data.
    """
    r = Replayer(model, journal, data)
    r.place()
    r.scan()
    r.restore()
    r.close()
    model.relayout(0)
    model.trained = True
    return r.identical()
