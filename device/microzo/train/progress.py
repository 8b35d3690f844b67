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
        self._model = model
        self._engine = engine
        self._placed = placed
        self._mean = -1  # ms a step, over the last ones; below 0: before the first

    def __iter__(self):
        return self

    def __next__(self):
        if self._mean < 0:
            memory.free()  # what beginning left on the stack would keep its code
            self._mean = 0
        while self._engine is not None and not self._engine.at.finished:
            step = self._model.exclusive(_advance, self)
            if step is not None:
                return step
        raise StopIteration

    def close(self):
        """Ends this iteration, not the run."""
        self._engine = None

    def advance(self, model):
        """Does the next piece of the run; a Step if it was one, else None."""
        check_placed(model, self._placed)
        engine = self._engine
        begun = clock.now()
        if not engine.advance():
            return None
        ms = clock.since(clock.now(), begun)
        mean = self._mean
        self._mean = (3 * mean + ms) // 4 if mean and engine.at.step > 1 else ms
        return engine.progress(self._mean)


def _advance(model, steps):
    return steps.advance(model)


def check_placed(model, placed):
    if model.placed != placed:
        raise ValueError(
            "the model was reset, or another trainer has begun with it: make a new trainer"
        )
