"""What realign and refilter declare alike."""

from ..net import trainable
from ..net import words as L
from .declaration import Method


class StatisticsMethod(Method):
    """Specs have ops and steps; realigns tells the engine that they start from the file's clean
    statistics and see the held-out samples, too."""

    labels = False

    def operators(self, plan):
        return trainable.realignable(plan)

    def resolve(self, stage, ops, steps):
        return dict(stage, ops=ops, steps=steps, realigns=1)

    def trains(self, spec):
        return [(op, L.BIASES | L.MULTIPLIERS) for op in spec["ops"]]

    def memory(self, plan, spec, state):
        widest = max(plan[L.op_base(op) + L.OUT_C] for op in spec["ops"])
        return {"buffers": 36 * widest}

    def work(self, plan, spec, samples):
        for op in spec["ops"]:
            yield ("sample", samples)
            yield ("pass", 0, op, samples, ())
            yield ("stats", op, samples)
            yield ("record", 12 * plan[L.op_base(op) + L.OUT_C], 1)

    def modules(self, spec):
        return ("methods.statistics",)
