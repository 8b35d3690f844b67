"""Masks of weights that are computed, never stored: from a seed, or from the weights in the file.

random: one weight of every `one_in` neighbours, channel: one output channel of every `one_in`;
which, says the seed of the stage. small, large: the part of 1 / one_in with the least or the
largest |weight| in the model file (one threshold an operator).
"""

from . import layout as L
from . import oneop
from . import plan as planner

_STREAM = 0x8100000  # the `a` of derive, plus the operator's TID


class Mask:
    """select(op) -> number of candidates; at(b): index of candidate b, or -1. settings: of
    options.py."""

    def __init__(self, model, settings):
        self._model = model
        self._kind = settings.mask
        self._n = settings.one_in
        self._seed = settings.seed
        self._row = self._channels = self._total = self._at = self._a = self._limit = 0
        self._limits = bytearray(model.ops)
        if self._kind in ("small", "large"):
            for op in settings.ops:
                self._limits[op] = self._threshold(op)

    def _threshold(self, op):
        counts = [0] * 129
        at = self._model.plan[L.op_base(op) + L.W_OFF]
        total = oneop.weights(self._model.plan, op)
        blob = self._model.blob
        for i in range(at, at + total):
            w = blob[i]
            counts[256 - w if w > 127 else w] += 1
        order = range(129) if self._kind == "small" else range(128, -1, -1)
        found = 0
        for limit in order:
            found += counts[limit]
            if found * self._n >= total:
                return limit

    def select(self, op):
        plan = self._model.plan
        o = L.op_base(op)
        self._row = planner.row_len(plan, o)
        self._channels = plan[o + L.OUT_C]
        self._total = self._channels * self._row
        self._at = plan[o + L.W_OFF]
        self._a = _STREAM + plan[o + L.TID]
        self._limit = self._limits[op]
        if self._kind == "random":
            return (self._total + self._n - 1) // self._n
        if self._kind == "channel":
            return (self._channels + self._n - 1) // self._n * self._row
        return self._total

    def at(self, b):
        kind = self._kind
        if kind == "random":
            i = b * self._n + self._model.k.derive(self._seed, self._a, b) % self._n
            return i if i < self._total else -1
        if kind == "channel":
            g = b // self._row
            c = g * self._n + self._model.k.derive(self._seed, self._a, g) % self._n
            return c * self._row + b % self._row if c < self._channels else -1
        w = self._model.blob[self._at + b]
        w = 256 - w if w > 127 else w
        return b if (w <= self._limit if kind == "small" else w >= self._limit) else -1

    def count(self, op):
        """How many weights of an operator the mask lets through."""
        return sum(self.at(b) >= 0 for b in range(self.select(op)))
