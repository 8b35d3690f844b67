"""What is printed: the model's table, the memory plan, the progress of a step."""

from . import layout as L
from . import plan as planner


def model_table(model):
    plan = model.plan
    lines = [
        "%s: input %d x %d x %d, %d classes, %d bytes of weights %s"
        % (
            model.path,
            plan[L.NET_IN_H],
            plan[L.NET_IN_W],
            plan[L.NET_IN_C],
            model.classes,
            plan[L.BLOB_LEN],
            "in flash" if model.mapped else "in RAM",
        ),
        " op kind     output          kernel  weights    MACs  trained",
    ]
    for i in range(model.ops):
        o = L.op_base(i)
        shape = "%d x %d x %d" % (plan[o + L.OUT_H], plan[o + L.OUT_W], plan[o + L.OUT_C])
        window = "%dx%d/%d" % (plan[o + L.K_H], plan[o + L.K_W], plan[o + L.S_H])
        weights = plan[o + L.OUT_C] * planner.row_len(plan, o)
        lines.append(
            "%3d %-8s %-15s %-7s %7s %7d  %s"
            % (
                i,
                L.KIND_NAMES[plan[o + L.KIND]],
                shape,
                window,
                weights or "",
                planner.macs(plan, o),
                _trained(plan, o),
            )
        )
    lines.append(
        "activations %d bytes, trained values %d bytes" % (len(model.arena), len(model.state))
    )
    return "\n".join(lines)


def _trained(plan, o):
    if not planner.is_weighted(plan, o):
        return ""
    words = ((L.MASTER_OFF, "weights"), (L.BIAS_OFF, "biases"), (L.MS_OFF, "scales"))
    return " ".join(name for word, name in words if plan[o + word] >= 0) or "-"


class MemoryPlan:
    """Bytes by part; prints as a table. total: their sum; cache is what may be used beyond it."""

    def __init__(self, parts, cache, notes):
        self.parts = parts
        self.cache = cache
        self.notes = notes
        self.total = sum(parts.values())

    def __repr__(self):
        lines = ["%-26s %8d" % item for item in self.parts.items()]
        lines.append("%-26s %8d" % ("total", self.total))
        lines.append(
            "%-26s %8s" % ("cache, if there is room", "all" if self.cache is None else self.cache)
        )
        return "\n".join(lines + self.notes)


def outcome_line(kind, outcome):
    kept, before, after, total = outcome
    if not total and (before or after):
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
    """Progress of a run; the same object is yielded after every step.

    stage, step (from 1), steps; loss: mean cross-entropy of the step in nats, or None; accuracy:
    share of right answers (of the batch, or of the last measurement), or None; seconds: per step;
    warning: "" or a sentence (watch.py).
    """

    def __init__(self):
        self.stage = ""
        self.step = 0
        self.steps = 0
        self.loss_sum = 0
        self.count = 0
        self.correct = -1
        self.total = 0
        self.ms = 0
        self.warning = ""

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
