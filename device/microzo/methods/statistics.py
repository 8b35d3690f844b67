"""The stage that brings channel statistics back to the clean ones, operator after operator
(SPEC.md, 1.9)."""

from array import array

from ..board import memory
from ..board.integers import sum_shift
from ..journal import record
from ..net import arena as planner
from ..net import words as L
from .stage import Stage


class _Views:
    """Parts of the widest operator's buffers for one with C channels: sums int64[2C], a VALUES
    record, its payload."""

    def __init__(self, channels, sums, rec):
        n = record.HEADER + 12 * channels + record.CRC
        self.sums = memoryview(sums)[: 2 * channels]
        self.record = memoryview(rec)[:n]
        self.values = memoryview(rec)[record.HEADER : n - record.CRC]
        self.length = 12 * channels


class Statistics(Stage):
    """A step an operator: sums over all samples, then a VALUES of int32 bias[C], mult[C],
    shift[C]."""

    shuffled = False
    before = 0  # steps before that of the first operator

    def __init__(self, run, spec, seed, alpha):
        Stage.__init__(self, run, spec, seed)
        self._ops = spec["ops"]
        self._alpha = alpha
        widths = {self._channels(op) for op in self._ops}
        sums = array("q", memory.take("channel sums", 16 * max(widths)))
        rec = record.new(record.VALUES, 12 * max(widths), run.board_id)
        self._views = {c: _Views(c, sums, rec) for c in widths}
        self._stats = bytearray(8 * max(widths))
        self._op = self._total = self._shift = 0
        self._sums = None

    def _channels(self, op):
        return self.model.plan[L.op_base(op) + L.OUT_C]

    def prepare(self, data, index, label, cache):
        Stage.prepare(self, data, index, label, cache)
        self.per_step = len(index)

    def begin(self, step):
        plan = self.model.plan
        self._op = self._ops[step - self.before]
        o = L.op_base(self._op)
        sums = self._views[self._channels(self._op)].sums
        for i in range(len(sums)):
            sums[i] = 0
        self._total = self.per_step * plan[o + L.OUT_H] * plan[o + L.OUT_W]
        self._shift = sum_shift(planner.accumulator_bound(plan, o), self._total)
        self._sums = sums

    def take(self, step, i):
        m = self.model
        if self._op:
            m.k.forward(m.plan, m.blob, m.state, m.arena, 0, self._op, 0)
        m.k.stats(m.plan, m.blob, m.state, m.arena, self._op, self._shift, self._sums)

    def finish(self, step):
        m = self.model
        k = m.k
        views = self._views[self._channels(self._op)]
        k.stats_finish(self._total, self._shift, self._sums, self._stats)
        k.realign(m.plan, m.blob, m.state, self._op, self._stats, self._alpha, views.values)
        self.record = views.record
        record.put16(self.record, 2, views.length)
        record.put32(self.record, 4, step)
        record.put16(self.record, 10, self._op)

    def apply(self, rec):
        m = self.model
        op = record.get16(rec, 10)
        if rec is self.record:
            values = self._views[self._channels(op)].values
        else:
            if rec[0] != record.VALUES or op != self._ops[record.get32(rec, 4) - self.before]:
                raise ValueError("the journal is damaged: a record does not suit its stage")
            values = record.payload(rec)
        m.k.assign(m.plan, m.state, op, values)
