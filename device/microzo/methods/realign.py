"""realign: channel statistics of every convolution are brought back to the clean ones, layer by
layer."""

from array import array

from ..board import memory
from ..journal import record
from ..net import arena as planner
from ..net import words as L


class _Views:
    """Parts of the widest operator's buffers for one with C channels: sums int64[2C], a SET
    record, its payload."""

    def __init__(self, channels, sums, rec):
        n = record.HEADER + 12 * channels + record.CRC
        self.sums = memoryview(sums)[: 2 * channels]
        self.record = memoryview(rec)[:n]
        self.values = memoryview(rec)[record.HEADER : n - record.CRC]
        self.length = 12 * channels


class Realign:
    """A stage of one step an operator. estimate(step) fills `record` with bias, mult and shift
    per channel."""

    flat = False
    clean = True  # an interrupted estimate leaves nothing to undo
    live_flag = 0

    def __init__(self, model, spec, seed, node):
        self._model = model
        self._ops = spec["ops"]
        self.steps = len(self._ops)
        self._alpha = spec["alpha"]
        widths = {self._channels(op) for op in self._ops}
        sums = array("q", memory.take("channel sums", 16 * max(widths)))
        rec = record.new(record.SET, 12 * max(widths), node)
        self._views = {c: _Views(c, sums, rec) for c in widths}
        self._stats = bytearray(8 * max(widths))
        self.record = self.payload = None
        self.loss = 0
        self.count = 0
        self.correct = -1
        self._fed = self.fed_loss = 0
        self._op = self._total = self._shift = 0
        self._sums = None

    def _channels(self, op):
        return self._model.plan[L.op_base(op) + L.OUT_C]

    def prepare(self, data, index, label, cache):
        from ..data.cache import Loader

        self._model.relayout(0)
        self._loader = Loader(self._model, data, index, 0, cache)
        self._n = len(index)

    def close(self):
        self._loader.close()

    def open(self, opening):
        """The STAGE record needs nothing more."""

    def resume(self, opening):
        """Nothing to take from it either."""

    def estimate(self, step):
        self.fit(self._ops[step], step)

    def fit(self, op, step):
        """The SET of operator `op`, as the record of `step`."""
        self._begin(op)
        for j in range(self._n):
            self._add(j)
        self._close(step)

    def feed(self, label, step):
        """estimate by single live samples, which are not kept: `samples` of them an operator;
        True when the record is complete."""
        if self._fed == 0:
            self._begin(self._ops[step])
        self._add(0)
        self._fed += 1
        if self._fed < self._n:
            return False
        self._fed = 0
        self._close(step)
        return True

    def _begin(self, op):
        m = self._model
        self._op = op
        o = L.op_base(op)
        sums = self._views[self._channels(self._op)].sums
        for i in range(len(sums)):
            sums[i] = 0
        self._total = self._n * m.plan[o + L.OUT_H] * m.plan[o + L.OUT_W]
        self._shift = sum_shift(planner.accumulator_bound(m.plan, o), self._total)
        self._sums = sums

    def _add(self, j):
        m = self._model
        self._loader.load(j)
        if self._op:
            m.k.forward(m.plan, m.blob, m.state, m.arena, 0, self._op, 0)
        m.k.stats(m.plan, m.blob, m.state, m.arena, self._op, self._shift, self._sums)

    def _close(self, step):
        m = self._model
        k = m.k
        views = self._views[self._channels(self._op)]
        k.stats_finish(self._total, self._shift, self._sums, self._stats)
        k.realign(m.plan, m.blob, m.state, self._op, self._stats, self._alpha, views.values)
        self.record = views.record
        self.payload = views.values
        record.put16(self.record, 2, views.length)
        record.put32(self.record, 4, step)
        record.put16(self.record, 10, self._op)


def sum_shift(bound, n):
    """Smallest s for which n squares of sums below `bound`, shifted right by s, stay below 2^62
    (SPEC.md, section 6).

    Counts bits, because the squares would leave the small integers of a board.
    """
    bits = 2 * bit_length(bound) + bit_length(n)
    return max(0, (bits - 61) >> 1)


def bit_length(n):
    bits = 0
    while n:
        n >>= 1
        bits += 1
    return bits
