"""The steps of a run as a user sees them: asked for one by one, printed."""

from ..board import clock, memory


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


class Steps:
    """The steps of a run, made one by one as they are asked for. No generator: one that was
    refused a step, inside a callback, would have ended."""

    def __init__(self, model, engine, placed):
        self.model = model
        self.engine = engine
        self.placed = placed
        self.ms = -1  # a step, over the last ones; below 0: before the first

    def __iter__(self):
        return self

    def __next__(self):
        if self.ms < 0:
            memory.free()  # what beginning left on the stack would keep its code
            self.ms = 0
        while self.engine is not None and not self.engine.at.finished:
            step = self.model.exclusive(_advance, self)
            if step is not None:
                return step
        raise StopIteration

    def close(self):
        """Ends this iteration, not the run."""
        self.engine = None

    def mean(self, ms):
        """Takes in the time of a step; the mean of the last ones."""
        first = not self.ms or self.engine.at.step == 1
        self.ms = ms if first else (3 * self.ms + ms) // 4
        return self.ms


def _advance(model, steps):
    """Does the next piece of the run; a Step if it was one, else None."""
    model.check_placed(steps.placed)
    begun = clock.now()
    if steps.engine.advance():
        return steps.engine.progress(steps.mean(clock.since(clock.now(), begun)))
    return None
