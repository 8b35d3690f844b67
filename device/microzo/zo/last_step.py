"""The last step as a direction: momentum-guided sampling and sharpness-aware perturbation.

Both are named in QZO-FF (arXiv 2411.04036); their equations were not available, these are ours.
Nothing is stored but the seeds and coefficients of one step.
"""

from array import array

from ..board.integers import root
from ..journal import record


class LastStep:
    """A direction of the length of a perturbation: `count` pairs of seeds and coefs (256: a whole
    perturbation); count is 0 after a step that moved nothing."""

    def __init__(self, k, seed, probes):
        self._k = k
        self._seed = seed
        self._probes = probes
        self._root = root(256 * probes)  # of the probes, Q4
        self.seeds = array("i", bytearray(4 * probes))
        self.coefs = array("i", bytearray(4 * probes))
        self.count = 0

    def take(self, rec, at):
        """From the record of a step whose coefficients begin at byte `at`."""
        step = record.get32(rec, 4)
        total = 0
        for p in range(self._probes):
            total += abs(record.get16s(rec, at + 2 * p))
        self.count = self._probes if total else 0
        for p in range(self.count):
            self.seeds[p] = self._k.derive(self._seed, step, p)
            c = record.get16s(rec, at + 2 * p) * 4096 // self._root * self._probes // total
            self.coefs[p] = -c  # an update subtracts
