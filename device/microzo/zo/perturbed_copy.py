"""A probe in a copy of the state: masked, Gaussian, below one LSB, around another point, along the
last step, or for an objective that the kernels do not know."""

from array import array

from ..board import memory
from ..net import arena as planner
from ..net import one_operator
from ..net import words as L
from .directions import Directions
from .probe import bits, moved

_LIMIT = 127 * 256


class Copy:
    """Perturbs a copy of the state, in turn with + and -; the state itself stays untouched.

    A pass costs that copy and an update beside its forward. objective: zo/objective.py; mask: a
    Mask or None; minus_last: the - pass of a sample is always the later one.
    """

    def __init__(self, model, spec, seed, objective, minus_last=False):
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
            most = max(planner.weights(model.plan, op) for op in self._ops)
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
        return plain - planner.weights(self._model.plan, op) + self._mask.count(op)

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
        self._copier.clear(m.state, delta, 2 * planner.weights(m.plan, op))
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
