"""What trainer.step(x, y) returns."""


class LiveStep:
    """What one live sample did.

    answer: the class that the model gave it before it learned; loss: cross-entropy in nats of
    that, None without a label; accuracy: share of right answers among the last labelled samples,
    at most 30, each before it was learned from; stage: kind of the stage; steps: its steps that
    are done; learned: this sample completed a piece of the run; missing: samples until the next
    one; warning: "" or a sentence. A number as far as it is compared: its loss.
    """

    def __init__(self, now, answer, loss, accuracy, count, learned):
        self.stage, self.steps, self.warning = now
        self.answer = answer
        self.loss = loss
        self.accuracy = accuracy
        self.learned = learned
        self._came, self._need = count

    missing = property(lambda self: self._need - self._came)

    def __repr__(self):
        text = "collecting %d/%d samples for %s" % (self._came, self._need, self.stage)
        if self.learned:
            text = "learned, " + text
        if self.loss is not None:
            text += ", loss %.2f" % self.loss
        if self.accuracy is not None:
            text += ", right %.0f %%" % (100 * self.accuracy)
        return text + " warning: " + self.warning if self.warning else text

    def __float__(self):
        return 0.0 if self.loss is None else self.loss

    def __lt__(self, other):
        return float(self) < float(other)

    def __le__(self, other):
        return float(self) <= float(other)

    def __gt__(self, other):
        return float(self) > float(other)

    def __ge__(self, other):
        return float(self) >= float(other)
