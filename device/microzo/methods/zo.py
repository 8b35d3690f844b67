"""spsa: antithetic perturbation of all chosen values, several probes share the samples of a
step."""

from array import array

from ..data import draw as sampling
from ..journal import record
from ..net import arena as planner
from ..net import words as L
from ..zo.rules import settle
from ..zo.schedule import cosine, extra_shift, norm_scaling


class Zo:
    """A stage. estimate(step) fills `record`; nothing of the model changes until the record is
    applied."""

    payload = None
    live_flag = 0
    clean = True  # an interrupted estimate leaves nothing to undo

    def __init__(self, model, spec, seed, node, prober=None):
        self._model = model
        self.spec = spec
        self._shape = prober
        self._probe = model.k.probe if prober is None else prober.probe
        self.steps = spec["steps"]
        self._seed = seed
        self._probes = spec["probes"]
        self._each = spec["samples"]
        self._clip = spec["clip"]
        self._shift = spec["shift"]
        self._rule = spec["rule"]
        self._schedule = spec["schedule"]
        # Q12 sum of L+ - L- over `samples` to Q12 of the mean of (L+ - L-) / 2
        self._scale = 1 + _log2(self._each)
        self.diffs = array("i", bytearray(4 * self._probes))
        self.flat = False
        self._coefs = record.HEADER  # where they are in the record
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
        self._turns = bytes(spec["ops"]) if spec["by_layer"] else b""
        self._scaling = self._scalings(spec)
        self._out = array("i", (0, 0))
        self.loss = 0  # sum over the step, Q12
        self.count = 0
        self.correct = -1  # unknown: a probe does not say the class
        self._fed = self.fed_loss = 0

    def _scalings(self, spec):
        """Halvings of the step by gradient-norm scaling, one for each group that is perturbed
        together."""
        sizes = [self._values(i, spec["what"]) for i in spec["ops"]]
        nq = self._probes
        groups = sizes if self._turns else (sum(sizes),)
        return bytes(norm_scaling(spec["gns"], nq, max(1, d)) for d in groups)

    def _values(self, op, what):
        """How many values of an operator are perturbed."""
        plan = self._model.plan
        o = L.op_base(op)
        row = planner.row_len(plan, o) if what & L.WEIGHTS else 0
        values = plan[o + L.OUT_C] * (row + (what >> 1 & 1) + (what >> 2))
        return values if self._shape is None else self._shape.values(op, values)

    def _turn(self, step):
        """Chooses what the step perturbs; its number in `_scaling`."""
        if not self._turns:
            return 0
        turn = step % len(self._turns)
        op = self._turns[turn]
        self._params[5] = op
        self._params[6] = op + 1
        self.record[1] = op + 1
        return turn

    def prepare(self, data, index, label, cache):
        from ..data.cache import Loader

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
        self.measure(step)
        self._close(step)

    def measure(self, step):
        """The loss differences of the step's probes, in `diffs`: Q12 sums over their samples."""
        order = self._order
        labels = self._label
        each = self._each
        g = step * self._probes * each
        self._start()
        for p in range(self._probes):
            self._seed_probe(step, p)
            for _ in range(each):
                j = order.at(g)
                g += 1
                self._loader.load(j)
                self._take(p, j, labels[j])
        self.count = self._probes * each

    def feed(self, label, step):
        """estimate by single live samples; True when the record is complete."""
        p = self._fed // self._each
        if self._fed == 0:
            self._start()
        self._seed_probe(step, p)
        self._loader.load(0)
        before = self.loss
        self._take(p, 0, label)
        self.fed_loss = self.loss - before
        self._fed += 1
        if self._fed < self._probes * self._each:
            return False
        self._fed = 0
        self.count = self._probes * self._each
        self._close(step)
        return True

    def _start(self):
        if self._shape is not None:
            self._shape.forget()
        self.loss = 0
        for p in range(self._probes):
            self.diffs[p] = 0

    def _seed_probe(self, step, p):
        if p == 0:
            self._turn(step)
        self._params[1] = self._model.k.derive(self._seed, step, p)

    def _take(self, p, j, label):
        """Probe p on sample j of the draw, which is loaded."""
        m = self._model
        out = self._out
        self._params[2] = label
        self._probe(m.plan, m.blob, m.state, m.arena, self._params, out)
        self.diffs[p] += out[0] - out[1]
        self.loss += out[0] + out[1] >> 1

    def _close(self, step):
        """The record, from the sums of loss differences; a negative shift goes into the
        coefficients."""
        diffs = self.diffs
        n = self._probes
        self.flat = True
        for p in range(n):
            self.flat = self.flat and diffs[p] == 0
            if self._rule != "sign":
                diffs[p] = _down(diffs[p], self._scale)
        settle(diffs, n, self._rule, self._clip)
        shift = self._shift + self._scaling[self._turn(step)]
        if self._schedule == "step":
            shift += extra_shift(step, self.steps)
        elif self._schedule == "cosine":
            factor = cosine(step, self.steps)
            shift += 4
            for p in range(n):
                diffs[p] = diffs[p] * factor >> 4
        rec = self.record
        for p in range(n):
            c = diffs[p]
            c = c << -shift if shift < 0 else c
            record.put16(rec, self._coefs + 2 * p, c)
        record.put32(rec, 4, step)
        record.put16(rec, 10, max(0, min(shift, 31)))


def _down(v, n):
    return v >> n if n > 0 else v << -n


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
        self._lo = lo
        self._hi = hi
        self._pairs = array("i", bytearray(8 * 64))

    def apply(self, rec):
        self.move(rec, record.HEADER, record.get16(rec, 2) >> 1, rec[1])

    def move(self, rec, at, n, one=0):
        """The update with the n coefficients at rec[at]; one: 1 + an operator that moves alone,
        or 0."""
        m = self._model
        pairs = self._pairs
        step = record.get32(rec, 4)
        for p in range(n):
            pairs[2 * p] = m.k.derive(self._seed, step, p)
            pairs[2 * p + 1] = record.get16s(rec, at + 2 * p)
        self._params[0] = one - 1 if one else self._lo
        self._params[1] = one if one else self._hi
        self._params[3] = n
        self._params[4] = record.get16s(rec, 10)
        m.k.update(m.plan, m.blob, m.state, m.arena, self._params, pairs)
