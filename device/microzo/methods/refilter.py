"""refilter: the first convolution's filters for the input as it is now, then realign of all.

A Wiener filter, folded into the weights: of all linear maps of a patch, W C0 C1^-1 comes nearest
to what the filters W gave for clean patches, where C0 and C1 are the covariances of clean and of
present patches (if what was added to them is not correlated with them; Wiener 1949). Noise is
suppressed where the clean patches have little power, a weak contrast is amplified. No labels. It
starts from the file's filters: what was trained there before is lost. Its place in a network, and
the integer form: ours.
"""

from ..net import arena as planner
from ..net import words as L
from .declaration import GUARDS
from .statistics_method import StatisticsMethod


class Refilter(StatisticsMethod):
    kind = "refilter"
    settings = (
        ("patches", 16, 1, 31),  # patches of each sample
        ("ridge", 12, 0, 20),  # halvings of the mean variance that is added to the covariances
        ("alpha", 256, 1, 256),  # 256ths of the way from the old filters to the new ones
        ("guard", "all", GUARDS),  # samples that decide whether the stage is kept
    )

    def choices(self, plan, stage, want):
        ops = self.operators(plan)
        if not plan[L.COV_OFF] or ops[:1] != [0]:
            want.note("no refilter, the model file holds no covariance of its input")
            return ()
        o = L.op_base(0)
        if 2 * plan[o + L.OUT_C] * planner.row_len(plan, o) > 65535:
            want.note("no refilter, the first convolution is too large for a record")
            return ()
        return (self.resolve(stage, ops, len(ops) + 1),)

    def memory(self, plan, spec, state):
        o = L.op_base(0)
        k = planner.row_len(plan, o)
        needs = StatisticsMethod.memory(self, plan, spec, state)
        needs["buffers"] += 6 * k * (k + 1) + (4 + 2 * plan[o + L.OUT_C]) * k + 16
        return needs

    def trains(self, spec):
        return StatisticsMethod.trains(self, spec) + [(0, L.WEIGHTS)]

    def work(self, plan, spec, samples):
        o = L.op_base(0)
        yield ("patches", 0, samples * spec["patches"])
        yield ("solve", 0, 1)
        yield ("record", 2 * plan[o + L.OUT_C] * planner.row_len(plan, o), 1)
        for item in StatisticsMethod.work(self, plan, spec, samples):
            yield item

    def stage(self, run, spec, seed):
        from .filters import Filters

        return Filters(run, spec, seed)


METHOD = Refilter()
