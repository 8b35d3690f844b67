"""Kernel calls on the weights of one operator alone, by way of a plan that holds only it.

The native `update` and `init_state` go through all operators of a plan; what a mask, a factor per
channel or a rounding rule needs is their work on one operator, in a buffer of its own.
"""

from array import array

from . import words as L

PLAN_BYTES = 4 * (L.HEADER_WORDS + L.OP_WORDS)
_TABLE = 512
COPIER_BYTES = PLAN_BYTES + _TABLE


def _plan(classes):
    made = array("i", bytearray(PLAN_BYTES))
    made[L.MAGIC] = L.MAGIC_VALUE
    made[L.MAJOR] = L.VERSION_MAJOR
    made[L.N_OPS] = 1
    made[L.CLASSES] = classes
    return made


class OneOp:
    """select(op), then the calls. eps: LSBs of a step, None for the operator's EPS_W."""

    def __init__(self, model):
        self._model = model
        self.plan = _plan(model.classes)
        self._params = array("i", (0, 1, L.WEIGHTS, 0, 0))

    def select(self, op, master, eps=-1):
        """The operator's masters are at byte `master` of the state that is given."""
        m = self._model
        to = self.plan
        at = L.op_base(op)
        for i in range(L.OP_WORDS):
            to[L.HEADER_WORDS + i] = m.plan[at + i]
        o = L.HEADER_WORDS
        to[o + L.MASTER_OFF] = master
        to[o + L.BIAS_OFF] = to[o + L.MS_OFF] = -1
        if eps >= 0:
            to[o + L.EPS_W] = eps

    def update(self, state, pairs, n, shift):
        """SPEC 1.8 of the weights alone."""
        m = self._model
        self._params[3] = n
        self._params[4] = shift
        m.k.update(self.plan, m.blob, state, m.arena, self._params, pairs)

    def round_off(self, state, whole):
        """Masters become the nearest whole weights; whole: a buffer of an octet a weight, and of
        at least four a channel."""
        k = self._model.k
        k.export_weights(self.plan, state, 0, whole)
        o = L.HEADER_WORDS
        to = self.plan
        for word in range(L.W_OFF, L.S_OFF + 1):
            to[o + word] = 0
        to[o + L.FLAGS] = 0
        to[o + L.STAT_OFF] = -1
        k.init_state(to, whole, state)


class Copier:
    """Copies and clears byte buffers by the kernel that maps inputs through a table."""

    def __init__(self, k):
        self._k = k
        self._plan = _plan(1)
        self._plan[L.NET_IN_W] = self._plan[L.NET_IN_C] = 1
        self._table = bytearray(_TABLE)
        for i in range(256):
            self._table[i] = i

    def copy(self, source, to, n):
        """n bytes; source: a byte buffer, to: an array of 16-bit items."""
        self._map(source, to, n, 0)

    def clear(self, source, to, n):
        """n zero bytes; source: any byte buffer of at least as many; to: as for copy."""
        self._map(source, to, n, 256)

    def _map(self, source, to, n, table):
        self._plan[L.TABLE_OFF] = table
        if n < 65536:
            self._rows(source, to, n, 1)
            return
        self._rows(source, to, n >> 6, 64)
        if n & 63:  # what is left, from an aligned place before it
            at = (n - 66) & ~3
            self._rows(memoryview(source)[at:], memoryview(to)[at >> 1 :], 1, n - at)

    def _rows(self, source, to, rows, each):
        plan = self._plan
        plan[L.NET_IN_H] = rows
        plan[L.NET_IN_C] = each
        self._k.input(plan, self._table, to, source)
