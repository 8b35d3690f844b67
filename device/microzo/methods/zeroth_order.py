"""The zeroth-order stage: losses at perturbed values become coefficients of an update.

It is put together from pieces: a probe (zo/probe.py) with an objective (zo/objective.py), a rule
(zo/rules.py), a schedule (zo/schedule.py), an update (zo/update.py) and, for elastic, a rider that
takes an exact gradient from the same passes. Split batches give every probe samples of its own,
shared ones show all probes of a step the same samples, which costs one read of a sample.
"""

from array import array

from ..board.integers import log2_up
from ..journal import record
from ..net import arena as planner
from ..net import words as L
from ..zo.probe import bits, shares
from ..zo.rules import RULES
from ..zo.schedule import Schedule, extra_shift, norm_scaling
from .stage import Stage

_COEFS = record.HEADER  # where they begin


class ZerothOrder(Stage):
    """A stage. Its STEP: int16 coefficients of the probes (and, with guided, of those of the step
    before), then, with a rider, uint16 indices of the samples in the data; aux: the shift.

    gathers: the objective takes statistics over all samples of a probe, so that a probe sees them
    one after another, even where they are shared.
    """

    def __init__(self, run, spec, seed, probe, update, rider=None, gathers=False):
        Stage.__init__(self, run, spec, seed)
        self.wide = spec["wide"]
        self._probe = probe
        self._update = update
        self._rider = rider
        self._probes = spec["probes"]
        self._each = spec["samples"]
        self._shared = shares(spec)
        self._one_sided = not spec["antithetic"]
        self._outer = self._shared and not gathers  # samples outside, probes inside
        self.per_step = self._each if self._outer else self._each * self._probes
        self.count = self._each if self._shared else self._each * self._probes
        # sum of L+ - L- over `samples` to the mean of (L+ - L-) / 2, or of L+ - L0
        self._scale = log2_up(self._each) + (not self._one_sided)
        self._rule = RULES[spec["rule"]]
        self._schedule = Schedule(spec["schedule"], self.steps)
        self._turns = bytes(spec["ops"]) if spec["by_layer"] else b""
        self._lo = spec["lo"]
        self._hi = spec["hi"]
        self._scalings = self._norm_scalings()
        self.diffs = array("i", bytearray(4 * self._probes))
        self._coefs = self._probes * (2 if spec.get("guided") else 1)
        self._indices = _COEFS + 2 * self._coefs
        length = 2 * self._coefs + (2 * self.per_step if rider else 0)
        self.record = record.new(record.STEP, length, run.board_id)
        if rider:
            self.clean = False  # an interrupted estimate leaves part of a batch in its gradient
            self.sizes = rider.sizes

    def first(self):
        return self.spec["first"]

    def place(self):
        if self._rider:
            self._rider.place()
        else:
            Stage.place(self)

    def calibrate(self):
        if self._rider:
            self._rider.calibrate(self.samples, self._probes * self._each)

    def _norm_scalings(self):
        """Halvings of the step, one for each group that is perturbed together."""
        spec = self.spec
        sizes = [self._values(i, bits(spec)) for i in spec["ops"]]
        groups = sizes if self._turns else (sum(sizes),)
        return bytes(norm_scaling(spec["norm_scaling"], self._probes, max(1, d)) for d in groups)

    def _values(self, op, what):
        """How many values of an operator are perturbed."""
        plan = self.model.plan
        o = L.op_base(op)
        row = planner.row_len(plan, o) if what & L.WEIGHTS else 0
        plain = plan[o + L.OUT_C] * (row + (what >> 1 & 1) + (what >> 2))
        return self._probe.values(op, plain)

    def _turn(self, step):
        """Number of the group that a step perturbs."""
        return step % len(self._turns) if self._turns else 0

    def measure(self, step):
        """The loss differences of the step's probes, in `diffs`: Q12 sums over their samples."""
        samples = self.samples  # a bound method in its place would be a new object
        g = step * (self._each if self._shared else self.per_step)
        self.begin(step)
        if self._shared and not self._outer:
            for i in range(self.per_step):
                samples.load(g + i % self._each)
                self.take(step, i)
        else:
            for i in range(self.per_step):
                samples.load(g + i)
                self.take(step, i)

    def estimate(self, step):
        self.measure(step)
        self.finish(step)

    def begin(self, step):
        if self._turns:
            op = self._turns[self._turn(step)]
            self._lo = op
            self._hi = op + 1
            self._probe.select(op, op + 1)
        self._probe.begin(step)
        self.loss = 0
        for p in range(self._probes):
            self.diffs[p] = 0

    def take(self, step, i):
        """Few names: MicroPython keeps small frames on the C stack, larger ones on the heap."""
        if self._outer:
            self._all_probes(step, i)
            return
        if i % self._each == 0:
            self._probe.start(step, i // self._each)
        loss = self._probe.clean(self.samples.label) if self._one_sided else 0
        self._probe.measure(self.samples.label)
        self._add(i // self._each, self._probe.out, loss)
        if self._rider:
            self._ride(i)
        if i % self._each == self._each - 1:
            self.diffs[i // self._each] += self._probe.rest()

    def _add(self, p, out, loss):
        """The losses of probe p; loss: without a perturbation, if it is one-sided."""
        if self._one_sided:
            self.diffs[p] += out[0] - loss
        else:
            self.diffs[p] += out[0] - out[1]
            loss = out[0] + out[1] >> 1
        self.loss += loss

    def _all_probes(self, step, i):
        """All probes on the sample that is loaded; its loss is the clean one, or the mean of
        theirs."""
        probe = self._probe
        out = probe.out
        label = self.samples.label
        probe.sample()
        loss = 0
        if self._one_sided:
            loss = probe.clean(label)
        for p in range(self._probes):
            probe.start(step, p)
            probe.measure(label)
            if self._one_sided:
                self.diffs[p] += out[0] - loss
            else:
                self.diffs[p] += out[0] - out[1]
                loss += out[0] + out[1]
            if self._rider:
                self._ride(i)
        if not self._one_sided:
            loss //= 2 * self._probes
        self.loss += loss

    def _ride(self, i):
        record.put16(self.record, self._indices + 2 * i, self.samples.index)
        self._rider.add(self.samples.label)

    def finish(self, step):
        """A negative shift goes into the coefficients."""
        if self._shared and not self._outer:
            self.loss //= self._probes
        diffs = self.diffs
        n = self._probes
        flat = True
        down = self._scale
        for p in range(n):
            flat = flat and diffs[p] == 0
            if self.spec["rule"] != "sign":
                diffs[p] = diffs[p] >> down
        self.flat = flat
        self._rule(diffs, n, self.spec["clip"])
        shift = self.spec["shift"] + self._scalings[self._turn(step)]
        shift += self._schedule.apply(step, diffs, n)
        rec = self.record
        for p in range(n):
            c = diffs[p]
            record.put16(rec, _COEFS + 2 * p, c << -shift if shift < 0 else c)
        record.put32(rec, 4, step)
        record.put16(rec, 10, max(0, min(shift, 31)))
        if self._coefs > n:
            self._go_along_last(rec)

    def _go_along_last(self, rec):
        """What probe 0 gave belongs to the directions of the last step, whose coefficients are
        the second half."""
        last = self._probe.last
        n = self._probes
        along = record.get16s(rec, _COEFS) if last.count else 0
        if along:
            record.put16(rec, _COEFS, 0)
        for p in range(n):
            c = along * last.coefs[p] >> 8 if along else 0
            record.put16(rec, _COEFS + 2 * (n + p), max(-32767, min(32767, c)))

    def apply(self, rec):
        if rec is not self.record:
            self._check(rec, record.STEP)
            if self._turns:
                self._lo = self._turns[self._turn(record.get32(rec, 4))]
                self._hi = self._lo + 1
        self._update.move(rec, _COEFS, self._coefs, self._lo, self._hi)
        if self._rider:
            self._rider.apply(extra_shift(record.get32(rec, 4), self.steps))
        self.recall(rec)

    def recall(self, rec):
        if self._probe.last is not None:
            self._probe.last.take(rec, _COEFS)

    def replay(self, rec, data):
        if self._rider:
            self._check(rec, record.STEP)
            self._rerun(rec, data, self._indices, self.per_step)
        self.apply(rec)
