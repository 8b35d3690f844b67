"""What is printed of a run: the outcome of a stage, the progress of a step."""


def outcome_line(kind, outcome):
    kept, before, after, total = outcome
    if not total and (before or after or not kept):
        return "%s %s: information %.2f -> %.2f nats, without labels" % (
            kind,
            "kept" if kept else "rolled back",
            before / 256,
            after / 256,
        )
    if not total:
        return "%s done, without labels to check it" % kind
    return "%s %s: %.1f %% -> %.1f %% of %d" % (
        kind,
        "kept" if kept else "rolled back",
        100 * before / total,
        100 * after / total,
        total,
    )


class Step:
    """Progress of a run after a step.

    stage, step (from 1), steps; loss: mean cross-entropy of the step in nats, or None; accuracy:
    share of right answers (of the batch, or of the last measurement), or None; seconds: per step;
    warning: "" or a sentence (health.py).
    """

    def __init__(self, stage, step, steps, loss_sum, count, correct, total, ms, warning):
        self.stage = stage
        self.step = step
        self.steps = steps
        self.loss_sum = loss_sum  # Q12 nats, of `count` samples
        self.count = count
        self.correct = correct
        self.total = total
        self.ms = ms
        self.warning = warning

    loss = property(lambda self: self.loss_sum / self.count / 4096 if self.count else None)
    accuracy = property(lambda self: self.correct / self.total if self.total else None)
    seconds = property(lambda self: self.ms / 1000)

    def __repr__(self):
        text = "step %d/%d" % (self.step, self.steps)
        if self.count:
            text += " loss %.2f" % self.loss
        if self.total:
            text += " acc %.1f %%" % (100 * self.accuracy)
        text += " %s s/step eta %d s (%s)" % (
            "%.2g" % self.seconds if self.ms < 99500 else self.ms // 1000,
            self.ms * (self.steps - self.step) // 1000,
            self.stage,
        )
        return text + " warning: " + self.warning if self.warning else text
