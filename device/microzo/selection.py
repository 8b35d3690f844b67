"""Which operators a stage trains."""

from . import layout as L
from . import plan as planner


def weighted(plan):
    """Indices of the operators that have weights."""
    return [i for i in range(plan[L.N_OPS]) if planner.is_weighted(plan, L.op_base(i))]


def choose(plan, layers):
    """Operators for `layers`: "auto" or "all", "lastN", or a list of them."""
    ops = weighted(plan)
    if layers in ("all", "auto"):
        return ops
    if isinstance(layers, str):
        if layers[:4] == "last" and layers[4:].isdigit() and 1 <= int(layers[4:]) <= len(ops):
            return ops[-int(layers[4:]) :]
    if not isinstance(layers, (list, tuple, set, range)):
        raise ValueError(
            'layers is "auto", "all", "last1".."last%d" or a list of operators, not %r'
            % (len(ops), layers)
        )
    for i in layers:
        if i not in ops:
            raise ValueError("operator %s has nothing to train, choose from %s" % (i, ops))
    if not layers:
        raise ValueError("layers is empty, choose from %s" % ops)
    return [i for i in ops if i in layers]


def nodes(plan, layers):
    """Operators whose outputs may be perturbed, best first: the one with a closed form behind
    it, else the last convolution; or the first of `layers`."""
    last = plan[L.N_OPS] - 1
    ops = [i for i in choose(plan, layers) if i != last]
    if not ops:
        raise ValueError("node perturbs an operator before the last, not %s" % layers)
    return ops[-1:] if layers in ("auto", "all") else ops[:1]


def realignable(plan):
    """Convolutions with clean statistics in the file; the last operator, the head, is none of
    them."""
    return [
        i
        for i in weighted(plan)
        if plan[L.op_base(i) + L.STAT_OFF] >= 0
        and plan[L.op_base(i) + L.KIND] != L.DENSE
        and i != plan[L.N_OPS] - 1
    ]


def head(plan):
    """The dense layer that makes the logits, or -1."""
    last = plan[L.N_OPS] - 1
    return last if plan[L.op_base(last) + L.KIND] == L.DENSE else -1


def tail(plan):
    """The convolution whose gradient has a closed form: right before the head, or before its
    average pool or mean; or -1."""
    at = head(plan) - 1
    if at >= 0 and plan[L.op_base(at) + L.KIND] in (L.AVGPOOL, L.MEAN):
        o = L.op_base(at)
        if plan[o + L.K_H] != plan[o + L.S_H] and plan[o + L.OUT_H] > 1:
            return -1
        if plan[o + L.K_W] != plan[o + L.S_W] and plan[o + L.OUT_W] > 1:
            return -1
        if plan[o + L.P_T] or plan[o + L.P_B] or plan[o + L.P_L] or plan[o + L.P_R]:
            return -1
        at -= 1
    if at < 0 or plan[L.op_base(at) + L.KIND] != L.CONV:
        return -1
    for i in range(at, head(plan)):
        if plan[L.op_base(i) + L.OUT] != plan[L.op_base(i + 1) + L.IN]:
            return -1
    return at
