"""realign: channel statistics of every convolution are brought back to the clean ones, layer by layer."""

from array import array

from . import layout as L
from . import memory, record
from . import plan as planner


class _Buffers:
    """Of an operator with C channels: sums int64[2C], stats int32[2C], a SET record and its payload int32[3C]."""

    def __init__(self, channels, node):
        self.sums = array("q", memory.take("channel sums", 16 * channels))
        self.stats = array("i", bytearray(8 * channels))
        self.record = record.new(record.SET, 12 * channels, node)
        self.values = record.payload(self.record)


class Realign:
    """A stage of one step an operator. estimate(step) fills `record` with bias, mult and shift per channel."""

    clean = True  # an interrupted estimate leaves nothing to undo

    def __init__(self, model, spec, seed, node):
        self._model = model
        self._ops = spec["ops"]
        self.steps = len(self._ops)
        self._alpha = spec["alpha"]
        self._buffers = {}
        for op in self._ops:
            channels = self._channels(op)
            if channels not in self._buffers:
                self._buffers[channels] = _Buffers(channels, node)
        self.record = None
        self.loss = 0
        self.count = 0
        self.correct = -1

    def _channels(self, op):
        return self._model.plan[L.op_base(op) + L.OUT_C]

    def prepare(self, data, index, label, limit):
        from .cache import Loader

        self._model.relayout(0)
        self._loader = Loader(self._model, data, index, 0, limit)
        self._n = len(index)

    def open(self, opening):
        """The STAGE record needs nothing more."""

    def resume(self, opening):
        """Nothing to take from it either."""

    def estimate(self, step):
        m = self._model
        k = m.k
        op = self._ops[step]
        o = L.op_base(op)
        buffers = self._buffers[self._channels(op)]
        sums = buffers.sums
        for i in range(len(sums)):
            sums[i] = 0
        n = self._n * m.plan[o + L.OUT_H] * m.plan[o + L.OUT_W]
        s = sum_shift(planner.accumulator_bound(m.plan, o), n)
        for j in range(self._n):
            self._loader.load(j)
            if op:
                k.forward(m.plan, m.blob, m.state, m.arena, 0, op, 0)
            k.stats(m.plan, m.blob, m.state, m.arena, op, s, sums)
        k.stats_finish(n, s, sums, buffers.stats)
        k.realign(m.plan, m.blob, m.state, op, buffers.stats, self._alpha, buffers.values)
        self.record = buffers.record
        record.put32(self.record, 4, step)
        record.put16(self.record, 10, op)


def sum_shift(bound, n):
    """Smallest s for which n squares of sums below `bound`, shifted right by s, stay below 2^62 (SPEC.md, section 6).

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
