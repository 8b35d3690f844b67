"""Moves the trained values by the coefficients of a step's probes, in one call of the C kernel;
shaped_update.py has what the kernel has not."""

from array import array

from ..journal import record
from .probe import bits

PAIRS = 64  # of a call of the kernel


def shaped(spec):
    """True if a stage needs more than the kernel's update."""
    return any(spec.get(key) for key in ("mask", "factors", "round", "guided")) or (
        spec.get("direction") == "gauss"
    )


class KernelUpdate:
    """move(rec, at, n, lo, hi): the update of operators lo..hi-1 with the n coefficients at
    rec[at]; the record's aux is the shift."""

    def __init__(self, model, spec, seed):
        self._model = model
        self._seed = seed
        self._what = bits(spec)
        self._params = array("i", (0, 0, self._what, 0, 0))
        self._pairs = array("i", bytearray(8 * PAIRS))

    def move(self, rec, at, n, lo, hi):
        m = self._model
        params = self._params
        pairs = self._pairs
        step = record.get32(rec, 4)
        for p in range(n):
            pairs[2 * p] = m.k.derive(self._seed, step, p)
            pairs[2 * p + 1] = record.get16s(rec, at + 2 * p)
        params[0] = lo
        params[1] = hi
        params[3] = n
        params[4] = record.get16s(rec, 10)
        m.k.update(m.plan, m.blob, m.state, m.arena, params, pairs)
