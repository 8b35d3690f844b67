"""spsa that remembers its last step: momentum-guided sampling and sharpness-aware perturbation.

Both are named in QZO-FF (arXiv 2411.04036); their equations were not available, these are ours.
guided: the first probe of a step looks along the last step instead of along a new direction.
sharp: the probes are made around a point that lies `sharp` quarters of a perturbation against the
last step, where the loss should be higher. Nothing is stored but the seeds and coefficients of
one step.
"""

from array import array

from ..journal import record
from ..methods.zo import Zo


class Last:
    """The last step as a direction of the length of a perturbation: seeds, coefs (256: a whole
    perturbation)."""

    def __init__(self, k, seed, probes):
        self._k = k
        self._seed = seed
        self._probes = probes
        self._root = 16  # of the probes, Q4
        while (self._root + 1) * (self._root + 1) <= 256 * probes:
            self._root += 1
        self.seeds = array("i", bytearray(4 * probes))
        self.coefs = array("i", bytearray(4 * probes))
        self.count = 0

    def take(self, rec, at):
        """From the record of a step; a step that moved nothing is forgotten."""
        step = record.get32(rec, 4)
        total = 0
        for p in range(self._probes):
            total += abs(record.get16s(rec, at + 2 * p))
        self.count = self._probes if total else 0
        for p in range(self.count):
            self.seeds[p] = self._k.derive(self._seed, step, p)
            c = record.get16s(rec, at + 2 * p) * 4096 // self._root * self._probes // total
            self.coefs[p] = -c  # an update subtracts


class Guided(Zo):
    """A stage. Its records have the coefficients of its probes, then, if guided, those of the
    last step's seeds."""

    clean = False  # an interrupted estimate may have forgotten the last step

    def __init__(self, model, spec, seed, node, prober):
        Zo.__init__(self, model, spec, seed, node, prober)
        self._prober = prober
        self._last = prober.last = Last(model.k, seed, self._probes)
        self._along = spec.get("guided", 0)
        if self._along:
            self.record = record.new(record.ZO, 4 * self._probes, node)

    def recall(self, rec):
        """Goes on after the record of a step."""
        self._last.take(rec, self._coefs)

    def _seed_probe(self, step, p):
        Zo._seed_probe(self, step, p)
        self._prober.along_last = bool(self._along and p == 0 and self._last.count)

    def _close(self, step):
        Zo._close(self, step)
        rec = self.record
        at = self._coefs
        n = self._probes
        if self._along:
            found = record.get16s(rec, at) if self._last.count else 0
            if found:
                record.put16(rec, at, 0)
            for p in range(n):
                c = found * self._last.coefs[p] >> 8 if found else 0
                record.put16(rec, at + 2 * (n + p), max(-32767, min(32767, c)))
        self._last.take(rec, at)
