"""The stage of refilter: covariance of patches, new filters, then statistics (SPEC.md, 1.11)."""

from array import array

from ..board import memory
from ..journal import record
from ..net import arena as planner
from ..net import words as L
from .statistics import Statistics

_WHOLE = 256  # alpha of the realign that follows; the setting is for the filters


class Filters(Statistics):
    """Step 0: a VALUES of int16 masters of operator 0; it allocates. Then the steps of
    Statistics."""

    before = 1

    def __init__(self, run, spec, seed):
        Statistics.__init__(self, run, spec, seed, _WHOLE)
        plan = self.model.plan
        k = planner.row_len(plan, L.op_base(0))
        cells = k * (k + 1) // 2
        self._sum = array("i", memory.take("sums of patches", 4 * k))
        self._products = array("i", memory.take("products of patches", 4 * cells))
        self._matrix = array("q", memory.take("covariance of patches", 8 * cells))
        length = 2 * plan[L.op_base(0) + L.OUT_C] * k
        self._filters = record.new(record.VALUES, length, run.board_id)
        self._patch = None

    def prepare(self, data, index, label, cache):
        # A cache of samples would take the room that the filters need.
        Statistics.prepare(self, data, index, label, (0, None))

    def close(self):
        from .. import forget

        Statistics.close(self)
        forget("methods.filters")  # the code came with the stage, and goes

    def begin(self, step):
        if step:
            Statistics.begin(self, step)
            return
        for total in (self._sum, self._products):
            for i in range(len(total)):
                total[i] = 0
        self._patch = [0] * len(self._sum)

    def take(self, step, i):
        if step:
            Statistics.take(self, step, i)
            return
        m = self.model
        plan = m.plan
        o = L.op_base(0)
        width = plan[o + L.IN_W] * plan[o + L.IN_C]
        line = plan[o + L.K_W] * plan[o + L.IN_C]
        high = plan[o + L.IN_H] - plan[o + L.K_H] + 1
        wide = plan[o + L.IN_W] - plan[o + L.K_W] + 1
        patch = self._patch
        for p in range(self.spec["patches"]):
            corner = m.k.derive(self.seed, i, p)
            at = plan[o + L.IN_OFF] + (corner >> 15) % high * width
            at += (corner & 32767) % wide * plan[o + L.IN_C]
            n = 0
            for _ in range(plan[o + L.K_H]):
                for x in m.arena[at : at + line]:
                    patch[n] = x - 256 if x > 127 else x  # a call each would double the time
                    n += 1
                at += width
            _add(self._sum, self._products, patch)

    def finish(self, step):
        if step:
            Statistics.finish(self, step)
            return
        from .. import forget
        from .wiener import solve

        self._patch = None
        self.record = self._filters
        patches = self.per_step * self.spec["patches"]
        solve(
            self.model, self._sum, self._products, self._matrix, patches,
            self.spec["ridge"], self.spec["alpha"], record.payload(self._filters),
        )  # fmt: skip
        forget("methods.wiener")
        record.put32(self.record, 4, 0)

    def apply(self, rec):
        if record.get32(rec, 4):
            Statistics.apply(self, rec)
            return
        if rec is not self._filters and (
            rec[0] != record.VALUES or len(rec) != len(self._filters)
        ):
            raise ValueError("the journal's filters are not those of this model's first operator")
        payload = record.payload(rec)
        at = self.model.plan[L.op_base(0) + L.MASTER_OFF]
        memoryview(self.model.state)[at : at + len(payload)] = payload


def _add(sums, products, patch):
    at = 0
    for i in range(len(patch)):
        x = patch[i]
        sums[i] += x
        for j in range(i + 1):
            products[at] += x * patch[j]
            at += 1
