"""Masks of weights that are computed, never stored: from a seed, or from the weights in the file.

random: one weight of every `one_in` neighbours, channel: one output channel of every `one_in`;
which, says the seed of the stage. small, large: the part of 1 / one_in with the least or the
largest |weight| in the model file (one threshold an operator).
"""

from array import array

from ..board.integers import int8
from ..net import arena as planner
from ..net import words as L
from .settings import CHUNK

_STREAM = 0x8100000  # the `a` of derive, plus the operator's TID
_STRIDE = 40503  # 2^16 over the golden ratio: places of neighbouring groups are unlike


class Mask:
    """select(op), then take() until it gives 0: so many indices in `indices`.

    spec: that of a stage with a mask; ops: operators whose weights it trains.
    """

    def __init__(self, model, spec, seed, ops):
        self._model = model
        self._kind = spec["mask"]
        self._n = spec.get("one_in", 10)
        self._seed = seed
        self.indices = array("i", bytearray(4 * CHUNK))
        self._row = self._channels = self._total = self._at = self._key = self._limit = 0
        self._next = self._a = 0
        self._limits = bytearray(model.ops)
        if self._kind in ("small", "large"):
            for op in ops:
                self._limits[op] = self._threshold(op)

    def _threshold(self, op):
        counts = [0] * 129
        at = self._model.plan[L.op_base(op) + L.W_OFF]
        total = planner.weights(self._model.plan, op)
        blob = self._model.blob
        for i in range(at, at + total):
            counts[abs(int8(blob[i]))] += 1
        order = range(129) if self._kind == "small" else range(128, -1, -1)
        passed = 0
        for limit in order:
            passed += counts[limit]
            if passed * self._n >= total:
                return limit

    def select(self, op):
        plan = self._model.plan
        o = L.op_base(op)
        self._row = planner.row_len(plan, o)
        self._channels = plan[o + L.OUT_C]
        self._total = self._channels * self._row
        self._at = plan[o + L.W_OFF]
        self._a = _STREAM + plan[o + L.TID]
        self._key = self._model.k.derive(self._seed, self._a, 0) & 0xFFFF
        self._limit = self._limits[op]
        self._next = 0

    def take(self):
        """The next indices, at most CHUNK, ascending."""
        if self._kind == "random":
            return self._random()
        return self._channel() if self._kind == "channel" else self._by_size()

    def _random(self):
        indices = self.indices
        n = self._n
        key = self._key
        b = self._next
        count = 0
        while count < CHUNK:
            i = b * n + (((b & 16383) * _STRIDE + key & 0xFFFF) * n >> 16)
            if i >= self._total:
                break
            indices[count] = i
            count += 1
            b += 1
        self._next = b
        return count

    def _channel(self):
        indices = self.indices
        row = self._row
        b = self._next
        count = 0
        while count < CHUNK:
            g = b // row
            c = g * self._n + self._model.k.derive(self._seed, self._a, g + 1) % self._n
            if g * self._n >= self._channels:
                break
            if c >= self._channels:
                b = (g + 1) * row
                continue
            end = min(row, b % row + CHUNK - count)
            for r in range(b % row, end):
                indices[count] = c * row + r
                count += 1
                b += 1
        self._next = b
        return count

    def _by_size(self):
        indices = self.indices
        blob = self._model.blob
        limit = self._limit
        small = self._kind == "small"
        at = self._at
        b = self._next
        count = 0
        while b < self._total and count < CHUNK:
            w = blob[at + b]
            w = 256 - w if w > 127 else w
            if w <= limit if small else w >= limit:
                indices[count] = b
                count += 1
            b += 1
        self._next = b
        return count

    def count(self, op):
        """How many weights of an operator the mask lets through."""
        self.select(op)
        total = 0
        n = self.take()
        while n:
            total += n
            n = self.take()
        return total
