"""recolor: how a convolution's channels vary together becomes what it was on clean data.

realign moves mean and spread of every channel; recolor first mixes the filters of a convolution so
that the correlations between its channels match those of the file, too: W' = R0^(1/2) R1^(-1/2)
D1^-1 W, where R0 and R1 are the correlations of clean and of present accumulators and D1 the
present deviations (whitening and coloring: Sun, Feng and Saenko 2016, CORAL, section 3, for
features). No labels. Its place in the weights, layer after layer, and the integer form: ours.
"""

from ..net import words as L
from .declaration import GUARDS
from .statistics_method import StatisticsMethod

_COLORS = 64  # channels at most


class Recolor(StatisticsMethod):
    """Specs have mixed beside ops: operators whose filters are mixed; of the others only mean and
    spread move."""

    kind = "recolor"
    settings = (
        ("places", 32, 1, 1024),  # output positions of each sample
        ("shrink", 26, 1, 256),  # 256ths by which present correlations are brought nearer to none
        ("guard", "all", GUARDS),  # samples that decide whether the stage is kept
    )

    def choices(self, plan, stage, want):
        ops = self.operators(plan)
        mixed = [i for i in ops if _has_colors(plan, i)]
        if not mixed:
            want.note("no recolor, the model file holds no clean correlations")
        while mixed:  # the first layers matter most
            yield dict(self.resolve(stage, ops, len(ops) + len(mixed)), mixed=list(mixed))
            mixed.pop()

    def memory(self, plan, spec, state):
        most = max(plan[L.op_base(op) + L.OUT_C] for op in spec["mixed"])
        needs = StatisticsMethod.memory(self, plan, spec, state)
        # sums and products, three matrices, the map in its record
        needs["buffers"] += 8 * most + 4 * most * (most + 1) + 14 * most * most + 64
        return needs

    def trains(self, spec):
        return StatisticsMethod.trains(self, spec) + [(op, L.WEIGHTS) for op in spec["mixed"]]

    def work(self, plan, spec, samples):
        for op in spec["mixed"]:
            c = plan[L.op_base(op) + L.OUT_C]
            yield ("sample", samples)
            yield ("pass", 0, op, samples, ())
            yield ("colors", op, samples * spec["places"])
            yield ("map", op, 1)
            yield ("record", 2 * c * c, 1)
        for item in StatisticsMethod.work(self, plan, spec, samples):
            yield item

    def modules(self, stage):
        return StatisticsMethod.modules(self, stage) + ("methods.colors",)

    def stage(self, run, spec, seed):
        from .colors import Colors

        return Colors(run, spec, seed)


def _has_colors(plan, op):
    o = L.op_base(op)
    colored = plan[L.NET_FLAGS] & L.HAS_COLORS and plan[o + L.KIND] == L.CONV
    return colored and plan[o + L.OUT_C] <= _COLORS


METHOD = Recolor()
