"""Memory plan of a network: shapes, arena and state offsets (SPEC.md, section 3).

A plan is any mutable sequence of int32 (array('i'), list), see words.py. Runs on MicroPython and
CPython. All sizes are bytes; activations are int8, so an element is a byte. `o` is the first word
of an operator.
"""

from . import words as L


def bases(plan):
    """First words of the operators, in order of execution."""
    return range(L.HEADER_WORDS, L.op_base(plan[L.N_OPS]), L.OP_WORDS)


def is_weighted(plan, o):
    return plan[o + L.KIND] <= L.DENSE


def in_size(plan, o):
    return plan[o + L.IN_H] * plan[o + L.IN_W] * plan[o + L.IN_C]


def out_size(plan, o):
    return plan[o + L.OUT_H] * plan[o + L.OUT_W] * plan[o + L.OUT_C]


def in2_size(plan, o):
    """Values of the second operand of ADD, MUL and CONCAT; 0 for an operator without one."""
    kind = plan[o + L.KIND]
    if kind == L.CONCAT:
        return out_size(plan, o) - in_size(plan, o)
    if kind != L.ADD and kind != L.MUL:
        return 0
    positions = 1 if plan[o + L.FLAGS] & L.SPREAD_HW else plan[o + L.IN_H] * plan[o + L.IN_W]
    return positions * (1 if plan[o + L.FLAGS] & L.SPREAD_C else plan[o + L.IN_C])


def row_len(plan, o):
    """Weights of one output channel (K); 0 for an operator without weights."""
    kind = plan[o + L.KIND]
    if kind == L.CONV:
        return plan[o + L.K_H] * plan[o + L.K_W] * plan[o + L.IN_C]
    if kind == L.DWCONV:
        return plan[o + L.K_H] * plan[o + L.K_W]
    return plan[o + L.IN_C] if kind == L.DENSE else 0


def weights(plan, op):
    """How many weights operator `op` has."""
    o = L.op_base(op)
    return plan[o + L.OUT_C] * row_len(plan, o)


def macs(plan, o):
    """Multiply-accumulates of one pass (additions for a pool)."""
    if is_weighted(plan, o):
        return out_size(plan, o) * row_len(plan, o)
    if plan[o + L.KIND] in (L.AVGPOOL, L.MAXPOOL, L.MEAN):
        return out_size(plan, o) * plan[o + L.K_H] * plan[o + L.K_W]
    return out_size(plan, o)


def scratch(plan, o):
    kind = plan[o + L.KIND]
    if kind == L.CONV:
        return max(22 * align(row_len(plan, o), 4) + 128, 3072)
    if kind == L.DENSE:
        return 12 * align(row_len(plan, o), 4) + 128
    if kind == L.DWCONV:
        width = plan[o + L.IN_W] + plan[o + L.P_L] + plan[o + L.P_R]
        return 32 * row_len(plan, o) + 8 * width * plan[o + L.K_H] + 128
    return 0


def align(n, step):
    return (n + step - 1) // step * step


# arena


def lifetimes(plan, first=0, pin_outputs=()):
    """(size, begin, end, pinned), lists by tensor id.

    A tensor is live from the operator that writes it (-1: the network's input) to the last one
    that reads it, both included; begin is None for an id that no operator writes.
    """
    n = plan[L.N_OPS]
    count = plan[L.N_TENSORS]
    size = [0] * count
    begin = [None] * count
    end = [-1] * count
    source = plan[L.IN_TENSOR]
    size[source] = plan[L.NET_IN_H] * plan[L.NET_IN_W] * plan[L.NET_IN_C]
    begin[source] = -1
    for i in range(n):
        o = L.op_base(i)
        end[plan[o + L.IN]] = i
        if plan[o + L.IN2] >= 0:
            end[plan[o + L.IN2]] = i
        out = plan[o + L.OUT]
        size[out] = out_size(plan, o)
        begin[out] = i
        end[out] = i
    end[plan[L.OUT_TENSOR]] = n
    for i in pin_outputs:
        end[plan[L.op_base(i) + L.OUT]] = n
    pinned = []
    for t in range(count):
        if (
            begin[t] is not None
            and begin[t] < first
            and end[t] >= first
            or t == source
            and first == 0
        ):
            end[t] = n
            pinned.append(t)
    return size, begin, end, pinned


def layout(plan, first=0, pin_outputs=()):
    """Fills the run-time words of the arena (SPEC.md, 3.1); returns ARENA_LEN.

    first: the operator that perturbed passes start from; its inputs are pinned in
    arena[0:PIN_LEN]. pin_outputs: indices of operators whose outputs stay live to the end.
    """
    n = plan[L.N_OPS]
    if not 0 <= first < n:
        raise ValueError("operator %d does not exist, first must be 0..%d" % (first, n - 1))
    for i in pin_outputs:
        if not 0 <= i < n:
            raise ValueError("operator %d does not exist, pin_outputs must be 0..%d" % (i, n - 1))
    size, begin, end, pinned = lifetimes(plan, first, pin_outputs)
    offset = [-1] * len(size)
    top = 0
    for t in pinned:
        offset[t] = top
        top += align(size[t], 4)
    plan[L.PIN_LEN] = top
    rest = [t for t in range(len(size)) if begin[t] is not None and offset[t] < 0]
    rest.sort(key=lambda t: (-size[t], -t))  # the last first: prefixes end beside their pins
    for t in rest:
        offset[t] = _first_fit(t, size, begin, end, offset)
        top = max(top, offset[t] + align(size[t], 4))
    most = 0
    for o in bases(plan):
        plan[o + L.IN_OFF] = offset[plan[o + L.IN]]
        plan[o + L.IN2_OFF] = offset[plan[o + L.IN2]] if plan[o + L.IN2] >= 0 else 0
        plan[o + L.OUT_OFF] = offset[plan[o + L.OUT]]
        most = max(most, scratch(plan, o))
    plan[L.LOGITS_OFF] = top
    plan[L.SCRATCH_OFF] = top + 4 * plan[L.CLASSES]
    plan[L.SCRATCH_LEN] = most
    plan[L.ARENA_LEN] = plan[L.SCRATCH_OFF] + most
    return plan[L.ARENA_LEN]


def _first_fit(t, size, begin, end, offset):
    """Lowest offset where tensor t meets no placed tensor of an overlapping lifetime."""
    at = 0
    moved = True
    while moved:
        moved = False
        for u in range(len(size)):
            if offset[u] < 0 or begin[u] > end[t] or begin[t] > end[u]:
                continue
            if at < offset[u] + align(size[u], 4) and offset[u] < at + align(size[t], 4):
                at = offset[u] + align(size[u], 4)
                moved = True
    return at


# state


def place_state(plan, selections):
    """Gives the selected operators their place in the state buffer; returns STATE_LEN.

    selections: pairs (operator, bits of WEIGHTS, BIASES, MULTIPLIERS); the rest is frozen.
    """
    chosen = {}
    for index, what in selections:
        if not 0 <= index < plan[L.N_OPS]:
            raise ValueError(
                "operator %d does not exist, choose 0..%d" % (index, plan[L.N_OPS] - 1)
            )
        if what and not is_weighted(plan, L.op_base(index)):
            raise ValueError(
                name(plan, index) + " has nothing to train, choose CONV, DWCONV or DENSE"
            )
        chosen[index] = chosen.get(index, 0) | what
    top = 0
    for i in range(plan[L.N_OPS]):
        o = L.op_base(i)
        what = chosen.get(i, 0)
        channels = plan[o + L.OUT_C]
        for bit, word, length in (
            (L.WEIGHTS, L.MASTER_OFF, 2 * channels * row_len(plan, o)),
            (L.BIASES, L.BIAS_OFF, 4 * channels),
            (L.MULTIPLIERS, L.MS_OFF, 5 * channels),
        ):
            plan[o + word] = top if what & bit else -1
            if what & bit:
                top += align(length, 8)
    plan[L.STATE_LEN] = top
    return top


# files


def clear_runtime(plan):
    """Puts the run-time words back to what they are in a file."""
    for word in range(L.ARENA_LEN, L.STATE_LEN + 1):
        plan[word] = 0
    for o in bases(plan):
        for word in (L.IN_OFF, L.IN2_OFF, L.OUT_OFF):
            plan[o + word] = 0
        for word in (L.MASTER_OFF, L.BIAS_OFF, L.MS_OFF):
            plan[o + word] = -1


# names and bounds


def name(plan, index):
    kind = plan[L.op_base(index) + L.KIND]
    known = 0 < kind < len(L.KIND_NAMES)
    return "operator %d (%s)" % (index, L.KIND_NAMES[kind] if known else "kind %d" % kind)


def accumulator_bound(plan, o, f=0):
    """Largest |accumulator| that training can reach with f fraction bits (SPEC.md, 1.4)."""
    zp = plan[o + L.IN_ZP]
    swing = max(127 - zp, zp + 128)
    return ((127 + plan[o + L.EPS_W]) * swing * row_len(plan, o) + plan[o + L.B_MAX]) << f
