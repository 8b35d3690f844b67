"""The stage of refilter: covariance of patches, new filters, then statistics (SPEC.md, 1.11)."""

from array import array

from ..board import memory
from ..journal import record
from ..net import arena as planner
from ..net import words as L
from .statistics import Statistics

_PEAK = 32512  # of a master
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

    def prepare(self, data, index, label, cache):
        # A cache of samples would take the room that the filters need.
        Statistics.prepare(self, data, index, label, (0, None))

    def begin(self, step):
        if step:
            Statistics.begin(self, step)
            return
        for total in (self._sum, self._products):
            for i in range(len(total)):
                total[i] = 0

    def take(self, step, i):
        if step:
            Statistics.take(self, step, i)
            return
        m = self.model
        patches = self.spec["patches"]
        m.k.patch_sums(m.plan, m.arena, self.seed, i, patches, self._sum, self._products)

    def finish(self, step):
        if step:
            Statistics.finish(self, step)
            return
        from .. import forget
        from .wiener import solve

        self.record = self._filters
        patches = self.per_step * self.spec["patches"]
        solve(
            self.model, self._sum, self._products, self._matrix, patches,
            self.spec["ridge"], self.spec["alpha"], record.payload(self._filters),
        )  # fmt: skip
        forget("methods.wiener")
        memory.free()  # what solving left on the stack would keep its code
        record.put32(self.record, 4, 0)

    def apply(self, rec):
        if record.get32(rec, 4):
            Statistics.apply(self, rec)
            return
        payload = record.payload(rec)
        if rec is not self._filters and not self._suits(rec):
            raise ValueError("the journal's filters are not those of this model's first operator")
        at = self.model.plan[L.op_base(0) + L.MASTER_OFF]
        memoryview(self.model.state)[at : at + len(payload)] = payload

    def _suits(self, rec):
        """True for masters of the first operator, each of them at most 127 whole weights."""
        if rec[0] != record.VALUES or len(rec) != len(self._filters):
            return False
        last = len(rec) - record.CRC
        return all(abs(record.get16s(rec, i)) <= _PEAK for i in range(record.HEADER, last, 2))
