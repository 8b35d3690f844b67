"""entropy: zeroth order without labels, on confidence and on the statistics of the last features.

The objective of FOA (arXiv 2404.01650) with this package's estimator; see zo/objective.py.
"""

from ..net import trainable
from ..net import words as L
from ..zo.probe import TRAIN
from .declaration import GUARDS
from .zeroth_method import SETTINGS, ZerothMethod

_OWN = {
    "train": ("train", ("biases", "scales"), TRAIN),  # what is perturbed and moved
    "eps_shift": ("eps_shift", 0, 0, 8),  # halvings of the perturbation, which a copy holds
}


class Entropy(ZerothMethod):
    kind = "entropy"
    labels = False
    settings = tuple(_OWN.get(row[0], row) for row in SETTINGS) + (
        ("stats", 8, 0, 255),  # sixteenths of the mismatch of statistics that the loss counts
        ("guard", "free", GUARDS),  # samples that decide whether the stage is kept
    )

    def resolve(self, plan, stage, ops, want):
        spec = ZerothMethod.resolve(self, plan, stage, ops, want)
        seen = [i for i in trainable.realignable(plan) if i >= spec["first"]]
        spec["seen"] = seen[-1] if seen and stage["stats"] else -1
        return spec

    def buffers(self, plan, spec, state):
        channels = max(plan[L.op_base(i) + L.OUT_C] for i in range(plan[L.N_OPS]))
        return ZerothMethod.buffers(self, plan, spec, state) + [48 * channels]

    def work(self, plan, spec, samples):
        for item in ZerothMethod.work(self, plan, spec, samples):
            yield item
        if spec["seen"] >= 0:
            passes = spec["steps"] * spec["probes"] * spec["samples"] * 2
            yield ("stats", spec["seen"], passes)

    def modules(self, spec):
        return ZerothMethod.modules(self, spec) + ("zo.objective",)

    def objective(self, run, spec):
        from ..zo.objective import Certainty

        return Certainty(run.model, spec["seen"], spec["stats"], spec["samples"])


METHOD = Entropy()
