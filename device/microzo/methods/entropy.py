"""entropy: zeroth order without labels, on confidence and on the statistics of the last features.

Loss: mean entropy of the predictions + `stats` sixteenths of the mean mismatch, over the channels
of one convolution, between the mean and deviation of its sums and the clean ones in the model
file: |mean - mean0| / sd0 + |sd - sd0| / sd0. The objective of FOA (arXiv 2404.01650) with this
package's estimator; the integer form, and the statistics over a probe's samples, are ours.
"""

from array import array

from ..board import memory
from ..net import arena as planner
from ..net import words as L
from ..zo.confidence import Confidence
from .realign import sum_shift
from .zo import Zo

_MOST = 1 << 20
_FAR = 1024  # Q8: a channel four deviations away says no more


class Entropy(Zo):
    """A stage; its records are those of spsa."""

    def __init__(self, model, spec, seed, node, prober):
        Zo.__init__(self, model, spec, seed, node, prober)
        self._confidence = Confidence(model)
        self._op = spec["seen"]  # whose statistics count, or -1
        self._seen = 0
        self._weight = spec["stats"]
        if self._op >= 0:
            o = L.op_base(self._op)
            plan = model.plan
            self._channels = plan[o + L.OUT_C]
            self._n = self._each * plan[o + L.OUT_H] * plan[o + L.OUT_W]
            self._down = sum_shift(planner.accumulator_bound(plan, o), self._n)
            size = 16 * self._channels
            self._sums = [array("q", memory.take("channel sums", size)) for _ in range(2)]
            self._stats = array("i", bytearray(8 * self._channels))
            at = plan[o + L.STAT_OFF]
            self._clean = array("i", bytes(memoryview(model.blob)[at : at + 8 * self._channels]))

    def prepare(self, data, index, label, cache):
        Zo.prepare(self, data, index, array("B", bytearray(len(index))), cache)

    def _start(self):
        Zo._start(self)
        self._seen = 0

    def _take(self, p, j, label):
        m = self._model
        params = self._params
        both = 0
        if self._op >= 0 and self._seen == 0:
            for sums in self._sums:
                for c in range(len(sums)):
                    sums[c] = 0
        i = 1 if self._shape.sign(params) < 0 else 0
        for _ in range(2):
            self._shape.perturb(params, 1 - 2 * i)
            first = params[0]
            if self._op >= 0:
                if first < self._op:
                    self._shape.run(params, first, self._op)
                self._shape.sums(self._op, self._down, self._sums[i])
                first = self._op
            self._shape.run(params, first, m.ops)
            self._confidence.take()
            self.diffs[p] += self._confidence.entropy * (1 - 2 * i)
            both += self._confidence.entropy
            i = 1 - i
        self.loss += both >> 1
        self._seen += 1
        if self._seen == self._each:
            self._seen = 0
            if self._op >= 0:
                self.diffs[p] += (self._mismatch(0) - self._mismatch(1)) * self._each

    def _mismatch(self, i):
        """Q12, times stats / 16."""
        channels = self._channels
        clean = self._clean
        found = self._stats
        self._model.k.stats_finish(self._n, self._down, self._sums[i], found)
        total = 0
        for c in range(channels):
            sd = clean[channels + c]  # Q4
            if sd > 16:
                t = min(_MOST, abs(found[c] - clean[c])) << 8
                t = t // (sd >> 4) + (min(_MOST, abs(found[channels + c] - sd)) << 8) // sd
                total += min(_FAR, t)
        return total * self._weight // channels
