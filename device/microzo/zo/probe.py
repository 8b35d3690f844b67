"""Perturbations that the native `probe` has not: masked, Gaussian, below one LSB, around another
point, along the last step.

They are made in a copy of the trained values, which the passes run on; the values themselves stay
untouched. A pass costs that copy and an update beside its forward.
"""

from array import array

from ..board import memory
from ..net import one_operator as oneop
from ..net import words as L
from .directions import Directions

_LIMIT = 127 * 256


class Prober:
    """probe() stands in for that of the kernels. settings: options.Settings."""

    def __init__(self, model, settings, minus_last=False):
        self._model = model
        self.minus_last = minus_last
        self._set = settings
        self._len = len(model.state)
        self._copy = array("h", memory.take("the perturbed copy", self._len))
        self._copier = oneop.Copier(model.k)
        self._no_error = array("i")
        self._directions = Directions(model.k, settings.gauss)
        self._pairs = array("i", bytearray(8 * self._directions.each))
        self._update = array("i", (0, 0, 0, 0, 0))
        self._down = self._directions.down + settings.eps_shift
        self._mask = None
        if settings.mask:
            from .masks import Mask

            self._mask = Mask(model, settings)
            self._one = oneop.OneOp(model)
            most = max(oneop.weights(model.plan, op) for op in settings.ops)
            self._delta = array("h", memory.take("the steps of an operator", 2 * most))
        self.last = None  # of guided.py: the step before
        self.forget()
        self.along_last = False

    def values(self, op, plain):
        """How many of an operator's `plain` values are perturbed."""
        if self._mask is None or op not in self._set.ops:
            return plain
        return plain - oneop.weights(self._model.plan, op) + self._mask.count(op)

    def probe(self, plan, blob, state, arena, params, out):
        """The passes; the last is the - pass of an antithetic probe, if `minus_last`."""
        k = self._model.k
        passes = 1 if params[3] & 2 else 2
        out[1] = 0
        i = 1 if passes == 2 and self.sign(params) < 0 else 0
        for _ in range(passes):
            self.perturb(params, 1 - 2 * i)
            self.run(params, params[0], self._model.ops)
            out[i] = k.loss(plan, arena, params[2], self._no_error)
            i = 1 - i

    def forget(self):
        """The values may have changed."""
        self._seed = self._sign = 0

    def sign(self, params):
        """The perturbation of these params that the copy holds already, or +1."""
        if self.minus_last or self._sign == 0 or self._seed != params[1]:
            return 1
        return self._sign

    def run(self, params, first, last):
        """Operators first..last-1 with the perturbed values."""
        m = self._model
        m.k.forward(m.plan, m.blob, self._copy, m.arena, first, last, params[3] & 1)

    def sums(self, op, shift, sums):
        """`stats` of an operator with the perturbed values, on its input in the arena."""
        m = self._model
        m.k.stats(m.plan, m.blob, self._copy, m.arena, op, shift, sums)

    def perturb(self, params, sign):
        """The copy becomes the values + sign * perturbation, if it is not that already."""
        if self._seed == params[1] and self._sign == sign:
            return
        self._seed = params[1]
        self._sign = 0  # until it is whole
        self._copier.copy(self._model.state, self._copy, self._len)
        last = self.last
        if self._set.sharp and last.count:
            for p in range(last.count):  # ahead: against the step that was made
                self._add(params, last.seeds[p], -(last.coefs[p] * self._set.sharp >> 2))
        if self.along_last:
            for p in range(last.count):
                self._add(params, last.seeds[p], last.coefs[p] * sign)
        else:
            self._add(params, params[1], 256 * sign)
        self._sign = sign

    def _add(self, params, seed, coef):
        """coef 256: a whole perturbation along the direction of the seed."""
        m = self._model
        pairs = self._pairs
        n = self._directions.fill(pairs, 0, seed, -coef >> self._down)
        update = self._update
        update[0] = params[5]
        update[1] = params[6]
        update[2] = params[4] if self._mask is None else params[4] & ~L.WEIGHTS
        update[3] = n
        if update[2]:
            m.k.update(m.plan, m.blob, self._copy, m.arena, update, pairs)
        if self._mask is not None:
            for op in self._set.ops:
                if params[5] <= op < params[6]:
                    self._add_masked(op, pairs, n)

    def _add_masked(self, op, pairs, n):
        m = self._model
        copy = self._copy
        delta = self._delta
        mask = self._mask
        self._copier.clear(m.state, delta, 2 * oneop.weights(m.plan, op))
        self._one.select(op, 0)
        self._one.update(delta, pairs, n, 0)
        at = m.plan[L.op_base(op) + L.MASTER_OFF] >> 1
        found = mask.found
        mask.select(op)
        n = mask.take()
        while n:
            for j in range(n):
                i = found[j]
                v = copy[at + i] + delta[i]
                copy[at + i] = _LIMIT if v > _LIMIT else -_LIMIT if v < -_LIMIT else v
            n = mask.take()
