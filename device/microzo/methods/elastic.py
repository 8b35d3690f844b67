"""elastic: zeroth order for the body, the exact gradient for the head, from the same passes.

ElasticZO (arXiv 2501.04287): the last pass of a probe leaves the head's input and the logits in
the arena, so the head's gradient (SPEC.md, 1.7) costs no forward. Taking it at the perturbed
point, and the integer form, are ours.
"""

from ..net import trainable
from ..net import words as L
from ..zo.probe import shares
from .batch_method import DECAY
from .gradient import grad_bytes
from .zeroth_method import ZerothMethod


class Elastic(ZerothMethod):
    kind = "elastic"
    settings = ZerothMethod.settings + (
        ("head_shift", 1, -64, 64),  # halvings of the head's step that suits the model
        DECAY,
    )

    def choices(self, plan, stage, want):
        head = trainable.head(plan)
        body = [i for i in trainable.choose(plan, want.layers) if i != head]
        if head < 0:
            want.note("no elastic, the last operator is not dense")
        if head < 0 or not body:
            return ()
        return [dict(self.resolve(plan, stage, body, want), head=head)]

    def trains(self, spec):
        return ZerothMethod.trains(self, spec) + [(spec["head"], L.WEIGHTS | L.BIASES)]

    def memory(self, plan, spec, state):
        needs = ZerothMethod.memory(self, plan, spec, state)
        needs["gradients"] = grad_bytes(plan, spec["head"])
        needs["buffers"] += _indices(spec)
        return needs

    def work(self, plan, spec, samples):
        for item in ZerothMethod.work(self, plan, spec, samples):
            yield item
        seen = spec["steps"] * spec["probes"] * spec["samples"]
        yield ("gradient", spec["head"], seen)
        yield ("apply", spec["head"], spec["steps"])
        yield ("indices", _indices(spec), spec["steps"])

    def modules(self, spec):
        return ZerothMethod.modules(self, spec) + ("methods.gradient", "methods.rider")

    def gradient(self, plan, spec):
        return [], spec["head"], spec["first"], (), ""

    def stage(self, run, spec, seed):
        from .rider import HeadGradient

        gradient = run.gradient_for(*self.gradient(run.model.plan, spec))
        rider = HeadGradient(run.model, gradient, spec)
        return ZerothMethod.stage(self, run, spec, seed, rider)


def _indices(spec):
    """Bytes of the indices of samples in a record."""
    return 2 * spec["samples"] * (1 if shares(spec) else spec["probes"])


METHOD = Elastic()
