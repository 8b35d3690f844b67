"""A probe: the losses of one sample with the trained values perturbed along a random direction.

KernelSigns leaves everything to the C kernel `probe`. Copy makes the perturbed values in a copy
of the state: masked, Gaussian, below one LSB, around another point, along the last step, or for an
objective that the kernel does not know.
"""

from array import array

from ..net import words as L

_WIDE, _ONE_SIDED, _KEEP_PRODUCTS = 1, 2, 4  # bits of the kernel's `mode`
_LIMIT = 127 * 256


def keeps_products(plan, first, shared):
    """True if the probes of a sample may share the products of operator `first` (SPEC.md, 4.2)."""
    o = L.op_base(first)
    return shared and plan[o + L.KIND] == L.DENSE and plan[o + L.OUT_C] <= L.KEPT


class KernelSigns:
    """One sign a value, made by the kernel while it reads the weights; loss: cross-entropy.

    spec: that of a zeroth-order stage; shared: its probes see the same samples. After `measure`
    out[0] is the loss with + and out[1] that with -, or one-sided 0 (Q12 nats).
    """

    last = None  # only Copy knows the last step

    def __init__(self, model, spec, seed, shared):
        self._model = model
        self._seed = seed
        mode = _WIDE if spec["wide"] else 0
        size = 2
        if keeps_products(model.plan, spec["first"], shared):
            mode |= _KEEP_PRODUCTS
            size = L.KEPT + 8
        if not spec["antithetic"]:
            mode |= _ONE_SIDED
        self.out = array("i", bytearray(4 * size))
        self._params = array(
            "i",
            (spec["first"], 0, 0, mode, bits(spec), spec["lo"], spec["hi"], spec["eps_shift"]),
        )
        self._clean = None
        if not spec["antithetic"]:
            self._clean = array("i", (spec["first"], 0, 0, mode, 0, 0, 0, 0))

    def select(self, lo, hi):
        """Perturbs operators lo..hi-1 alone from now on."""
        self._params[5] = lo
        self._params[6] = hi

    def values(self, op, plain):
        """How many of an operator's `plain` values are perturbed."""
        return plain

    def begin(self, step):
        """The trained values may have changed."""

    def start(self, step, p):
        """Takes the direction of probe p of a step."""
        self._params[1] = self._model.k.derive(self._seed, step, p)

    def sample(self):
        """Another sample is in the arena."""
        if len(self.out) > 2:
            self.out[2] = 0  # the products that are kept belong to the sample before

    def clean(self, label):
        """Loss without a perturbation, Q12."""
        m = self._model
        self._clean[2] = label
        m.k.probe(m.plan, m.blob, m.state, m.arena, self._clean, self.out)
        return self.out[0]

    def measure(self, label):
        m = self._model
        self._params[2] = label
        m.k.probe(m.plan, m.blob, m.state, m.arena, self._params, self.out)

    def rest(self):
        """What the probe's samples together add to the sum of loss differences, Q12."""
        return 0


class Copy:
    """Perturbs a copy of the state, in turn with + and -; the state itself stays untouched.

    A pass costs that copy and an update beside its forward. objective: zo/objective.py; mask: a
    Mask or None; minus_last: the - pass of a sample is always the later one.
    """

    def __init__(self, model, spec, seed, objective, minus_last=False):
        from ..board import memory
        from ..net import one_operator
        from .directions import Directions

        self._model = model
        self._seed = seed
        self._objective = objective
        self._minus_last = minus_last
        self._passes = 2 if spec["antithetic"] else 1
        self._first = spec["first"]
        self._lo = spec["lo"]
        self._hi = spec["hi"]
        self._what = bits(spec)
        self._wide = spec["wide"]
        self._sharp = spec.get("sharp", 0)
        self._guided = spec.get("guided", 0)
        self._state = array("h", memory.take("the perturbed copy", len(model.state)))
        self._copier = one_operator.Copier(model.k)
        self._directions = Directions(model.k, spec.get("direction") == "gauss")
        self._pairs = array("i", bytearray(8 * self._directions.each))
        self._params = array("i", (0, 0, 0, 0, 0))
        self._down = self._directions.down + spec["eps_shift"]
        self._mask = None
        if spec.get("mask"):
            from .masks import Mask

            self._ops = moved(model.plan, spec)
            self._mask = Mask(model, spec, seed, self._ops)
            self._one = one_operator.OneOp(model)
            most = max(one_operator.weights(model.plan, op) for op in self._ops)
            self._delta = array("h", memory.take("the steps of an operator", 2 * most))
        self.last = None  # a LastStep, for sharp and guided
        if self._sharp or self._guided:
            from .last_step import LastStep

            self.last = LastStep(model.k, seed, spec["probes"])
        self.out = array("i", (0, 0))
        self._along_last = False
        self._direction = self._holds = self._sign = 0

    def select(self, lo, hi):
        self._lo = lo
        self._hi = hi

    def values(self, op, plain):
        if self._mask is None or op not in self._ops:
            return plain
        from ..net import one_operator

        return plain - one_operator.weights(self._model.plan, op) + self._mask.count(op)

    def begin(self, step):
        self._holds = self._sign = 0

    def start(self, step, p):
        self._direction = self._model.k.derive(self._seed, step, p)
        self._along_last = bool(self._guided and p == 0 and self.last.count)
        self._objective.begin()

    def sample(self):
        """Nothing is kept from the sample before."""

    def clean(self, label):
        return self._objective.loss(self._model.state, self._first, label, self._wide, 1)

    def measure(self, label):
        out = self.out
        out[1] = 0
        # begin with what the copy holds already: the first sign then costs no copy
        i = 0
        if self._passes == 2 and not self._minus_last and self._holds == self._direction:
            i = 1 if self._sign < 0 else 0
        for _ in range(self._passes):
            self._perturb(1 - 2 * i)
            out[i] = self._objective.loss(self._state, self._first, label, self._wide, i)
            i = 1 - i

    def rest(self):
        return self._objective.rest()

    def _perturb(self, sign):
        """The copy becomes the values + sign * perturbation, if it is not that already."""
        if self._holds == self._direction and self._sign == sign:
            return
        self._holds = self._direction
        self._sign = 0  # until it is whole
        self._copier.copy(self._model.state, self._state, len(self._model.state))
        last = self.last
        if self._sharp and last.count:
            for p in range(last.count):  # ahead: against the step that was made
                self._add(last.seeds[p], -(last.coefs[p] * self._sharp >> 2))
        if self._along_last:
            for p in range(last.count):
                self._add(last.seeds[p], last.coefs[p] * sign)
        else:
            self._add(self._direction, 256 * sign)
        self._sign = sign

    def _add(self, seed, coef):
        """coef 256: a whole perturbation along the direction of the seed."""
        m = self._model
        pairs = self._pairs
        n = self._directions.fill(pairs, 0, seed, -coef >> self._down)
        params = self._params
        params[0] = self._lo
        params[1] = self._hi
        params[2] = self._what if self._mask is None else self._what & ~L.WEIGHTS
        params[3] = n
        if params[2]:
            m.k.update(m.plan, m.blob, self._state, m.arena, params, pairs)
        if self._mask is not None:
            for op in self._ops:
                if self._lo <= op < self._hi:
                    self._add_masked(op, pairs, n)

    def _add_masked(self, op, pairs, n):
        m = self._model
        copy = self._state
        delta = self._delta
        mask = self._mask
        self._copier.clear(m.state, delta, len(delta) * 2)
        self._one.select(op, 0)
        self._one.update(delta, pairs, n, 0)
        at = m.plan[L.op_base(op) + L.MASTER_OFF] >> 1
        mask.select(op)
        n = mask.take()
        while n:
            for j in range(n):
                i = mask.indices[j]
                v = copy[at + i] + delta[i]
                copy[at + i] = _LIMIT if v > _LIMIT else -_LIMIT if v < -_LIMIT else v
            n = mask.take()


TRAIN = ("weights", "biases", "scales")


def bits(spec):
    """Bits of words.WEIGHTS, BIASES, MULTIPLIERS for the `train` of a spec."""
    return sum(1 << TRAIN.index(name) for name in spec["train"])


def shares(spec):
    """True if all probes of a step see the same samples: they must where they share a clean
    loss."""
    return bool(spec.get("share")) or not spec["antithetic"]


def moved(plan, spec):
    """Operators of a spec's lo..hi-1 whose weights are trained."""
    return [
        i
        for i in range(spec["lo"], spec["hi"])
        if "weights" in spec["train"] and plan[L.op_base(i) + L.MASTER_OFF] >= 0
    ]
