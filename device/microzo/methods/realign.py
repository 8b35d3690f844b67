"""realign: mean and spread of every convolution's channels become what they were on clean data.

No labels, no gradient: the file's channel statistics against those of the samples, folded into
scales and biases, layer by layer. It starts from the file's values.
"""

from .declaration import GUARDS
from .statistics_method import StatisticsMethod


class Realign(StatisticsMethod):
    kind = "realign"
    settings = (
        ("alpha", 256, 1, 256),  # 256ths of the correction; 256: the whole of it
        ("guard", "all", GUARDS),  # samples that decide whether the stage is kept
    )

    def choices(self, plan, stage, want):
        ops = self.operators(plan)
        if not ops:
            want.note("no realign, the model file holds no clean statistics")
            return ()
        return (self.resolve(stage, ops, len(ops)),)

    def stage(self, run, spec, seed):
        from .statistics import Statistics

        return Statistics(run, spec, seed, spec["alpha"])


METHOD = Realign()
