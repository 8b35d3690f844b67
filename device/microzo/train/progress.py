"""What is printed of a step."""


class Step:
    """Progress of a run after a step.

    stage, step (from 1), steps; loss: mean cross-entropy of the step in nats, or None; accuracy:
    share of right answers in the samples of this step, or None where the step does not count them;
    seconds: per step, on average of the last ones; warning: "" or a sentence (health.py).
    """

    def __init__(self, stage, step, steps, loss_sum, count, correct, ms, warning):
        self.stage = stage
        self.step = step
        self.steps = steps
        self.loss_sum = loss_sum  # Q12 nats, of `count` samples
        self.count = count
        self.correct = correct  # -1: not counted
        self.ms = ms
        self.warning = warning

    loss = property(lambda self: self.loss_sum / self.count / 4096 if self.count else None)
    seconds = property(lambda self: self.ms / 1000)

    @property
    def accuracy(self):
        return self.correct / self.count if self.count and self.correct >= 0 else None

    def __repr__(self):
        text = "step %d/%d" % (self.step, self.steps)
        if self.count:
            text += " loss %.2f" % self.loss
        if self.accuracy is not None:
            text += " acc %.1f %%" % (100 * self.accuracy)
        text += " %s s/step eta %d s (%s)" % (
            "%.2g" % self.seconds if self.ms < 99500 else self.ms // 1000,
            self.ms * (self.steps - self.step) // 1000,
            self.stage,
        )
        return text + " warning: " + self.warning if self.warning else text
