"""An update that the kernel has not: Gaussian directions, masks, a factor for every channel,
rounding to whole weights, the step before (guided)."""

from array import array

from ..board import memory
from ..data import order
from ..journal import record
from ..net import arena as planner
from ..net import one_operator
from ..net import words as L
from .directions import Directions
from .probe import moved
from .update import PAIRS, KernelUpdate

_LIMIT = 127 * 256
_FINE = 4  # bits below a master unit that a step keeps before its channel's factor


class ShapedUpdate(KernelUpdate):
    """The same with mask, factors, round, direction or guided in the spec."""

    def __init__(self, model, spec, seed):
        KernelUpdate.__init__(self, model, spec, seed)
        self._guided = spec.get("guided", 0)
        self._round = spec.get("round", "")
        self._ops = moved(model.plan, spec)
        self._directions = Directions(model.k, spec.get("direction") == "gauss")
        self._one = one_operator.OneOp(model)
        self._mask = self._factors = self._delta = self._whole = None
        most = max([planner.weights(model.plan, op) for op in self._ops] or [0])
        if spec.get("mask"):
            from .masks import Mask

            self._mask = Mask(model, spec, seed, self._ops)
        if spec.get("factors"):
            from .factors import factors

            self._factors = {op: factors(model, op, spec["factors"]) for op in self._ops}
        if spec.get("mask") or spec.get("factors"):
            self._delta = array("h", memory.take("the steps of an operator", 2 * most))
            self._copier = one_operator.Copier(model.k)
        if self._round in ("nearest", "stochastic"):
            channels = max([model.plan[L.op_base(op) + L.OUT_C] for op in self._ops] or [0])
            self._whole = memory.take("whole weights", max(most, 4 * channels))

    def move(self, rec, at, n, lo, hi):
        """A record of a guided stage has the coefficients of the step before in its second
        half."""
        plan = self._model.plan
        params = self._params
        params[0] = lo
        params[1] = hi
        params[2] = self._what & ~L.WEIGHTS if self._delta is not None else self._what
        params[4] = min(31, record.get16s(rec, 10) + self._directions.down)
        if params[2]:
            self._each_group(rec, at, n, 0)
        for op in self._ops:
            if lo <= op < hi:
                master = plan[L.op_base(op) + L.MASTER_OFF]
                if self._delta is not None:
                    self._steps(op, rec, at, n)
                    self._merge(op, master)
                self._round_off(op, master, record.get32(rec, 4))

    def _each_group(self, rec, at, n, fine):
        """One call of update for as many whole directions as have room in its pairs."""
        m = self._model
        pairs = self._pairs
        count = 0
        step = record.get32(rec, 4)
        fresh = n >> 1 if self._guided else n
        for p in range(n):
            coef = record.get16s(rec, at + 2 * p) << fine
            if p < fresh:
                seed = m.k.derive(self._seed, step, p)
            else:
                seed = m.k.derive(self._seed, max(0, step - 1), p - fresh)
            count += self._directions.fill(pairs, count, seed, coef)
            if count + self._directions.each > PAIRS or p == n - 1:
                if fine:
                    self._one.update(self._delta, pairs, count, self._params[4])
                else:
                    self._params[3] = count
                    m.k.update(m.plan, m.blob, m.state, m.arena, self._params, pairs)
                count = 0

    def _steps(self, op, rec, at, n):
        """The operator's steps, in 1/16 of a master unit."""
        m = self._model
        self._copier.clear(m.state, self._delta, 2 * planner.weights(m.plan, op))
        self._one.select(op, 0)
        self._each_group(rec, at, n, _FINE)

    def _merge(self, op, master):
        """Adds the steps, masked and times the factors, to the masters at byte `master`."""
        mask = self._mask
        row = planner.row_len(self._model.plan, L.op_base(op))
        factors = self._factors[op] if self._factors is not None else None
        if mask is None:
            for i in range(planner.weights(self._model.plan, op)):
                self._move_one(master, i, factors[i // row])
            return
        mask.select(op)
        n = mask.take()
        while n:
            for j in range(n):
                i = mask.indices[j]
                self._move_one(master, i, 256 if factors is None else factors[i // row])
            n = mask.take()

    def _move_one(self, master, i, factor):
        state = self._model.state
        a = master + 2 * i
        v = (state[a + 1] ^ 128) << 8 | state[a]
        v += (self._delta[i] * factor + 2048 >> 12) - 32768
        v = _LIMIT if v > _LIMIT else -_LIMIT if v < -_LIMIT else v
        state[a] = v & 255
        state[a + 1] = v >> 8 & 255

    def _round_off(self, op, master, step):
        rule = self._round
        if not rule:
            return
        state = self._model.state
        if rule == "feedback":
            self._fade(op, master)
            return
        self._one.select(op, master, 1)
        if rule == "stochastic":
            for j in range(8):  # a sum of these is uniform over 256 values
                self._pairs[2 * j] = self._model.k.derive(self._seed, order.DITHER, 8 * step + j)
                self._pairs[2 * j + 1] = 1 << j
            self._one.update(state, self._pairs, 8, 1)
        self._one.round_off(state, self._whole)

    def _fade(self, op, master):
        """What the last rounding to int8 left over loses an eighth."""
        state = self._model.state
        for a in range(master, master + 2 * planner.weights(self._model.plan, op), 2):
            rest = state[a]
            if rest < 128:
                state[a] = rest - (rest >> 3)
            elif rest <= 248:  # -128..-8 of the weight above
                state[a] = rest + (256 - rest >> 3)
