"""Warns of steps that do nothing, and of weights that run into their limits."""

from ..net import arena as planner
from ..net import words as L

_PATIENCE = 8  # steps without effect
_EVERY = 16  # steps between looks at the weights
_LOOKS = 64  # weights of an operator that are looked at
_LIMIT = 127 * 256

EQUAL = "all losses are equal: the perturbation is too small"
STILL = "no trained value moves: the step is too small"
FULL = "more and more weights reach their limit: the step is too large"


class Health:
    """look(flat, step) after a step sets `warning`, "" or a sentence; it allocates nothing."""

    def __init__(self, model):
        self._model = model
        self._equal = self._still = 0
        self._crc = -1
        self._spans = []
        self._seen = 0
        plan = model.plan
        for i in range(model.ops):
            o = L.op_base(i)
            if planner.is_weighted(plan, o) and plan[o + L.MASTER_OFF] >= 0:
                count = plan[o + L.OUT_C] * planner.row_len(plan, o)
                stride = max(1, count // _LOOKS)
                self._spans.append((plan[o + L.MASTER_OFF], count, stride))
                self._seen += (count + stride - 1) // stride
        self._before = self._now = self._full()
        self.warning = ""

    def look(self, flat, step):
        """After a step; flat: every loss difference of it was 0."""
        m = self._model
        self._equal = self._equal + 1 if flat else 0
        crc = m.k.crc32(m.state, 0, len(m.state))
        self._still = self._still + 1 if crc == self._crc else 0
        self._crc = crc
        if step % _EVERY == 0:
            self._now = self._full()
        if self._equal >= _PATIENCE:
            self.warning = EQUAL
        elif self._still >= _PATIENCE:
            self.warning = STILL
        else:
            self.warning = FULL if (self._now - self._before) * 32 > self._seen else ""

    def _full(self):
        """How many of the weights looked at are at +-127."""
        state = self._model.state
        full = 0
        for at, count, stride in self._spans:
            for i in range(0, count, stride):
                v = state[at + 2 * i] | state[at + 2 * i + 1] << 8
                full += v == _LIMIT or v == 65536 - _LIMIT
        return full
