"""tail: mini-batches of the exact gradient of the last convolution and the last dense layer.

Between the two may be an ADD and a pool whose gradient has a closed form (SPEC.md, 1.7).
"""

from ..net import trainable
from .batch_method import DECAY, GUARD, BatchMethod


class Tail(BatchMethod):
    kind = "tail"
    settings = (
        ("epochs", 20, 1, 65535),  # passes over the samples that are trained
        ("batch", 32, 1, 1024),  # samples of a step
        ("head_shift", 1, -64, 64),  # halvings of the head's step that suits the model
        ("conv_shift", 0, -64, 64),  # the same of the convolution's
        DECAY,
        GUARD,
    )

    def choices(self, plan, stage, want):
        """A convolution that has room, else the head alone, if the recipe has other stages."""
        head = trainable.head(plan)
        if head < 0:
            want.note("no tail, the last operator is not dense")
            return ()
        specs = [self.resolve(stage, [op], head, want) for op in trainable.tails(plan)]
        if not specs:
            text = "no tail, no convolution feeds the head in closed form"
            want.note(text if want.alone else text + ", head instead")
        if not want.alone:
            spec = self.resolve(stage, [], head, want)
            del spec["conv_shift"]
            specs.append(dict(spec, kind="head"))
        return specs


METHOD = Tail()
