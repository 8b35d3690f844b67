"""Tables of a model and of what a run takes, loaded when one is asked for."""

from . import arena as planner
from . import words as L
from .header import entry


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
    names = entry(model.path, "classes")
    if names:
        lines.append("classes " + " ".join("%d %s" % pair for pair in enumerate(names)))
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
