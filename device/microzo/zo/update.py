"""Updates that the native `update` has not: masked, with a factor for every channel, rounded to
whole weights."""

from array import array

from ..board import memory
from ..data import draw as sampling
from ..journal import record
from ..methods.zo import ZoUpdate
from ..net import arena as planner
from ..net import one_operator as oneop
from ..net import words as L
from ..recipes import options
from .directions import Directions

_LIMIT = 127 * 256
_FINE = 4  # bits below a master unit that a step keeps before its channel's factor


class ShapedUpdate(ZoUpdate):
    """Applies ZO and ELASTIC records of a stage with settings (options.py)."""

    def __init__(self, model, rec):
        at = record.HEADER
        seed = record.get32(rec, at + 4)
        ZoUpdate.__init__(self, model, seed, rec[at + 2], rec[at + 3], rec[at + 1])
        self._set = settings = options.Settings(model, rec)
        self._directions = Directions(model.k, settings.gauss)
        self._one = oneop.OneOp(model)
        self._mask = self._factors = self._delta = self._whole = None
        most = max(oneop.weights(model.plan, op) for op in settings.ops) if settings.ops else 0
        if settings.mask:
            from .masks import Mask

            self._mask = Mask(model, settings)
        if settings.rows:
            from .factors import factors

            self._factors = {op: factors(model, op, settings.rows) for op in settings.ops}
        if settings.mask or settings.rows:
            self._delta = array("h", memory.take("the steps of an operator", 2 * most))
            self._copier = oneop.Copier(model.k)
        if settings.round in ("nearest", "stochastic"):
            channels = max(model.plan[L.op_base(op) + L.OUT_C] for op in settings.ops)
            self._whole = memory.take("whole weights", max(most, 4 * channels))

    def move(self, rec, at, n, one=0):
        """As in ZoUpdate; a record of a guided stage has the coefficients of the step before in
        its second half."""
        plan = self._model.plan
        what = self._set.what
        shift = min(31, record.get16s(rec, 10) + self._directions.down)
        lo = one - 1 if one else self._lo
        hi = one if one else self._hi
        self._params[0] = lo
        self._params[1] = hi
        self._params[4] = shift
        self._params[2] = what & ~L.WEIGHTS if self._delta is not None else what
        if self._params[2]:
            self._each_group(rec, at, n, 0)
        for op in self._set.ops:
            if lo <= op < hi:
                master = plan[L.op_base(op) + L.MASTER_OFF]
                if self._delta is not None:
                    self._steps(op, rec, at, n)
                    self._merge(op, master)
                self._round(op, master, record.get32(rec, 4))

    def _each_group(self, rec, at, n, fine):
        """One call of update for every 64 streams of the step."""
        m = self._model
        pairs = self._pairs
        count = 0
        step = record.get32(rec, 4)
        fresh = n >> 1 if self._set.guided else n
        for p in range(n):
            coef = record.get16s(rec, at + 2 * p) << fine
            if p < fresh:
                seed = m.k.derive(self._seed, step, p)
            else:
                seed = m.k.derive(self._seed, max(0, step - 1), p - fresh)
            count += self._directions.fill(pairs, count, seed, coef)
            if count + self._directions.each > 64 or p == n - 1:
                if fine:
                    self._one.update(self._delta, pairs, count, self._params[4])
                else:
                    self._params[3] = count
                    m.k.update(m.plan, m.blob, m.state, m.arena, self._params, pairs)
                count = 0

    def _steps(self, op, rec, at, n):
        """The operator's steps, in 1/16 of a master unit."""
        m = self._model
        self._copier.clear(m.state, self._delta, 2 * oneop.weights(m.plan, op))
        self._one.select(op, 0)
        self._each_group(rec, at, n, _FINE)

    def _merge(self, op, master):
        """Adds the steps, masked and times the factors, to the masters at byte `master`."""
        mask = self._mask
        row = planner.row_len(self._model.plan, L.op_base(op))
        factors = self._factors[op] if self._factors is not None else None
        if mask is None:
            for i in range(oneop.weights(self._model.plan, op)):
                self._move_one(master, i, factors[i // row])
            return
        mask.select(op)
        n = mask.take()
        while n:
            for j in range(n):
                i = mask.found[j]
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

    def _round(self, op, master, step):
        rule = self._set.round
        if not rule:
            return
        state = self._model.state
        if rule == "feedback":
            self._fade(op, master)
            return
        self._one.select(op, master, 1)
        if rule == "stochastic":
            for j in range(8):  # a sum of these is uniform over 256 values
                self._pairs[2 * j] = self._model.k.derive(
                    self._seed, sampling.DITHER, 8 * step + j
                )
                self._pairs[2 * j + 1] = 1 << j
            self._one.update(state, self._pairs, 8, 1)
        self._one.round_off(state, self._whole)

    def _fade(self, op, master):
        """What the last rounding to int8 left over loses an eighth."""
        state = self._model.state
        for a in range(master, master + 2 * oneop.weights(self._model.plan, op), 2):
            rest = state[a]
            if rest < 128:
                state[a] = rest - (rest >> 3)
            elif rest <= 248:  # -128..-8 of the weight above
                state[a] = rest + (256 - rest >> 3)
