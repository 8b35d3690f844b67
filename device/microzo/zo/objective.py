"""What a zeroth-order stage makes smaller: the loss of a pass through perturbed values.

An objective has loss(state, first, label, wide, side) -> Q12 nats of the sample whose prefix is in
the arena (side 0: the + pass, 1: the - pass or the clean one), begin() before the samples of a
probe and rest() after them: what they add together to the sum of loss differences.
"""

from array import array

from ..board import memory
from ..board.integers import sum_shift
from ..net import arena as planner
from ..net import words as L
from .confidence import Confidence

_MOST = 1 << 20
_FAR = 1024  # Q8: a channel four deviations away says no more


class CrossEntropy:
    """Of the label."""

    gathers = False  # nothing is taken over all samples of a probe

    def __init__(self, model):
        self._model = model
        self._no_error = array("i")

    def begin(self):
        """Samples add up one by one."""

    def loss(self, state, first, label, wide, side):
        m = self._model
        m.k.forward(m.plan, m.blob, state, m.arena, first, m.ops, wide)
        return m.k.loss(m.plan, m.arena, label, self._no_error)

    def rest(self):
        return 0


class Certainty:
    """Without labels: entropy of the predictions, and how far the last features' statistics are
    from the clean ones in the model file.

    Mean entropy + `weight` sixteenths of the mean mismatch, over the channels of convolution `op`
    (-1: none), between the mean and deviation of its sums and the clean ones:
    |mean - mean0| / sd0 + |sd - sd0| / sd0. The objective of FOA (arXiv 2404.01650); the integer
    form, and the statistics over a probe's samples, are ours. each: samples of a probe.
    """

    def __init__(self, model, op, weight, each):
        self._model = model
        self._confidence = Confidence(model)
        self._op = op
        self._weight = weight
        self._each = each
        self.gathers = op >= 0
        if op < 0:
            return
        plan = model.plan
        o = L.op_base(op)
        self._channels = plan[o + L.OUT_C]
        self._n = each * plan[o + L.OUT_H] * plan[o + L.OUT_W]
        self._down = sum_shift(planner.accumulator_bound(plan, o), self._n)
        size = 16 * self._channels
        self._sums = [array("q", memory.take("channel sums", size)) for _ in range(2)]
        self._stats = array("i", bytearray(8 * self._channels))
        at = plan[o + L.STAT_OFF]
        self._clean = array("i", bytes(memoryview(model.blob)[at : at + 8 * self._channels]))

    def begin(self):
        if self._op >= 0:
            for sums in self._sums:
                for c in range(len(sums)):
                    sums[c] = 0

    def loss(self, state, first, label, wide, side):
        m = self._model
        op = self._op
        if op >= 0:
            if first < op:
                m.k.forward(m.plan, m.blob, state, m.arena, first, op, wide)
            m.k.stats(m.plan, m.blob, state, m.arena, op, self._down, self._sums[side])
            first = op
        m.k.forward(m.plan, m.blob, state, m.arena, first, m.ops, wide)
        self._confidence.take()
        return self._confidence.entropy

    def rest(self):
        if self._op < 0:
            return 0
        return (self._mismatch(0) - self._mismatch(1)) * self._each

    def _mismatch(self, side):
        """Q12, times weight / 16."""
        channels = self._channels
        clean = self._clean
        stats = self._stats
        self._model.k.stats_finish(self._n, self._down, self._sums[side], stats)
        total = 0
        for c in range(channels):
            sd = clean[channels + c]  # Q4
            if sd > 16:
                t = min(_MOST, abs(stats[c] - clean[c])) << 8
                t = t // (sd >> 4) + (min(_MOST, abs(stats[channels + c] - sd)) << 8) // sd
                total += min(_FAR, t)
        return total * self._weight // channels
