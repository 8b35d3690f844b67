"""head: batches of the exact gradient of the last dense layer, softmax error times features."""

from ..net import trainable
from .batch_method import DECAY, GUARD, HEAD_SHIFT, BatchMethod


class Head(BatchMethod):
    kind = "head"
    settings = (
        ("epochs", 20, 1, 65535),  # passes over the samples that are trained
        ("batch", 32, 1, 1024),  # samples of a step
        HEAD_SHIFT,
        DECAY,
        GUARD,
    )

    def choices(self, plan, stage, want):
        head = trainable.head(plan)
        if head < 0:
            want.note("no head, the last operator is not dense")
            return ()
        return (self.resolve(stage, [], head, want),)


METHOD = Head()
