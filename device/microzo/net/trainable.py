"""Which operators a stage trains."""

from . import arena as planner
from . import words as L


def weighted(plan):
    """Indices of the operators that have weights which may move."""
    bases = ((i, L.op_base(i)) for i in range(plan[L.N_OPS]))
    return [i for i, o in bases if planner.is_weighted(plan, o) and not plan[o + L.ABS_SUM]]


def choose(plan, layers):
    """Operators for `layers`: "auto" or "all", "lastN", or a list of them."""
    ops = weighted(plan)
    if not ops:
        raise ValueError(
            "the model has no layer that can be trained, it can only predict: take one with a "
            "CONV, DWCONV or DENSE that is not frozen"
        )
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
    """Operators of `layers` whose outputs may be perturbed: all but the last of the network."""
    last = plan[L.N_OPS] - 1
    ops = [i for i in choose(plan, layers) if i != last]
    if not ops:
        raise ValueError("node perturbs an operator before the last, not %s" % layers)
    return ops


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
    o = L.op_base(last)
    return last if plan[o + L.KIND] == L.DENSE and not plan[o + L.ABS_SUM] else -1


def _before_head(plan):
    """The operator whose output the head takes, through an average pool or mean if there is one;
    -1 if that pool has no closed form."""
    at = head(plan) - 1
    o = L.op_base(at)
    if at < 0 or plan[o + L.KIND] not in (L.AVGPOOL, L.MEAN):
        return at
    if plan[o + L.K_H] != plan[o + L.S_H] and plan[o + L.OUT_H] > 1:
        return -1
    if plan[o + L.K_W] != plan[o + L.S_W] and plan[o + L.OUT_W] > 1:
        return -1
    if plan[o + L.P_T] or plan[o + L.P_B] or plan[o + L.P_L] or plan[o + L.P_R]:
        return -1
    return at - 1 if plan[L.op_base(at - 1) + L.OUT] == plan[o + L.IN] else -1


def tails(plan):
    """Convolutions whose gradient has a closed form, the one with the most weights first: right
    before the head or its pool, or before an ADD that is."""
    at = _before_head(plan)
    if at < 0 or plan[L.op_base(head(plan) - 1) + L.OUT] != plan[L.op_base(head(plan)) + L.IN]:
        return []
    o = L.op_base(at)
    if plan[o + L.KIND] == L.CONV:
        return [at]
    if plan[o + L.KIND] != L.ADD or plan[o + L.FLAGS] & (L.SPREAD_HW | L.SPREAD_C):
        return []
    found = [i for i in range(at) if plan[L.op_base(i) + L.KIND] == L.CONV and _only(plan, i, at)]
    return sorted(found, key=lambda i: -planner.row_len(plan, L.op_base(i)))


def _only(plan, i, user):
    """True if `user` is the one that reads the output of operator i."""
    made = plan[L.op_base(i) + L.OUT]
    for j in range(plan[L.N_OPS]):
        o = L.op_base(j)
        if (made in (plan[o + L.IN], plan[o + L.IN2])) != (j == user):
            return False
    return True


def kept(plan, conv):
    """Operators whose outputs the closed form of `conv` needs after a pass: it, and its ADD."""
    if conv < 0:
        return ()
    at = _before_head(plan)
    return (conv, at) if at != conv and conv in tails(plan) else (conv,)
