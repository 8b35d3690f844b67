"""spsa: antithetic perturbation of all chosen values, several probes share the samples of a
step."""

from array import array

from . import record, sampling
from .schedule import extra_shift


class Zo:
    """A stage. estimate(step) fills `record`; nothing of the model changes until the record is
    applied."""

    payload = None
    live_flag = 0
    clean = True  # an interrupted estimate leaves nothing to undo

    def __init__(self, model, spec, seed, node):
        self._model = model
        self.spec = spec
        self.steps = spec["steps"]
        self._seed = seed
        self._probes = spec["probes"]
        self._each = spec["samples"]
        self._clip = spec["clip"]
        self._shift = spec["shift"]
        # Q12 sum of L+ - L- over `samples` to Q8 of the mean of (L+ - L-) / 2
        self._scale = 5 + _log2(self._each)
        self.record = record.new(record.ZO, 2 * self._probes, node)
        self._params = array(
            "i",
            (
                spec["first"],
                0,
                0,
                spec["mode"],
                spec["what"],
                spec["lo"],
                spec["hi"],
                spec["eps_shift"],
            ),
        )
        self._out = array("i", (0, 0))
        self.loss = 0  # sum over the step, Q12
        self.count = 0
        self.correct = -1  # unknown: a probe does not say the class
        self._fed = self._fed_total = self.fed_loss = 0

    def prepare(self, data, index, label, cache):
        from .cache import Loader

        m = self._model
        m.relayout(self.spec["first"])
        self._label = label
        self._order = sampling.Order(m.k, len(index), self._seed)
        self._loader = Loader(m, data, index, self.spec["first"], cache, self.spec["mode"])

    def close(self):
        self._loader.close()

    def open(self, opening):
        """The STAGE record needs nothing more."""

    def resume(self, opening):
        """Nothing to take from it either."""

    def estimate(self, step):
        m = self._model
        params = self._params
        out = self._out
        probe = m.k.probe
        loader = self._loader
        order = self._order
        labels = self._label
        plan = m.plan
        blob = m.blob
        state = m.state
        arena = m.arena
        each = self._each
        g = step * self._probes * each
        loss = 0
        for p in range(self._probes):
            params[1] = m.k.derive(self._seed, step, p)
            total = 0
            for _ in range(each):
                j = order.at(g)
                g += 1
                loader.load(j)
                params[2] = labels[j]
                probe(plan, blob, state, arena, params, out)
                total += out[0] - out[1]
                loss += out[0] + out[1] >> 1
            self.put(p, total, step)
        self.loss = loss
        self.count = self._probes * each
        self._close(step)

    def feed(self, label, step):
        """estimate by single live samples; True when the record is complete."""
        m = self._model
        params = self._params
        out = self._out
        p = self._fed // self._each
        if self._fed == 0:
            self.loss = 0
        if self._fed % self._each == 0:
            self._fed_total = 0
        params[1] = m.k.derive(self._seed, step, p)
        params[2] = label
        self._loader.load(0)
        m.k.probe(m.plan, m.blob, m.state, m.arena, params, out)
        self._fed_total += out[0] - out[1]
        self.fed_loss = out[0] + out[1] >> 1
        self.loss += self.fed_loss
        self._fed += 1
        if self._fed % self._each == 0:
            self.put(p, self._fed_total, step)
        if self._fed < self._probes * self._each:
            return False
        self._fed = 0
        self.count = self._probes * self._each
        self._close(step)
        return True

    def put(self, p, total, step):
        """Coefficient of probe p from the sum of its loss differences; a negative shift of the
        step goes into it."""
        c = total >> self._scale
        clip = self._clip
        c = clip if c > clip else -clip if c < -clip else c
        shift = self._shift + extra_shift(step, self.steps)
        record.put16(self.record, record.HEADER + 2 * p, c << -shift if shift < 0 else c)

    def _close(self, step):
        record.put32(self.record, 4, step)
        shift = self._shift + extra_shift(step, self.steps)
        record.put16(self.record, 10, shift if shift > 0 else 0)


def _log2(n):
    """Rounded up."""
    bits = 0
    while 1 << bits < n:
        bits += 1
    return bits


class ZoUpdate:
    """Applies ZO records of one stage: seeds are derived, coefficients read."""

    def __init__(self, model, seed, lo, hi, what):
        self._model = model
        self._seed = seed
        self._params = array("i", (lo, hi, what, 0, 0))
        self._pairs = array("i", bytearray(8 * 64))

    def apply(self, rec):
        m = self._model
        pairs = self._pairs
        step = record.get32(rec, 4)
        n = record.get16(rec, 2) >> 1
        for p in range(n):
            pairs[2 * p] = m.k.derive(self._seed, step, p)
            pairs[2 * p + 1] = record.get16s(rec, record.HEADER + 2 * p)
        self._params[3] = n
        self._params[4] = record.get16s(rec, 10)
        m.k.update(m.plan, m.blob, m.state, m.arena, self._params, pairs)
