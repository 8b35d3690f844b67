"""Memory plan of a network: shapes, arena and state offsets, checks (SPEC.md, section 3).

A plan is any mutable sequence of int32 (array('i'), list), see layout.py. Runs on MicroPython and
CPython. All sizes are bytes; activations are int8, so an element is a byte. `o` is the first word
of an operator.
"""

from . import layout as L

_LIMIT = 1 << 30  # accumulators stay below this
_MAX_ELEMENTS = 1 << 24  # of a tensor or a weight tensor


def op_count(plan):
    return plan[L.N_OPS]


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
            begin[t] = -1
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
    rest.sort(key=lambda t: (-size[t], t))
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


def memory(plan):
    """Bytes by purpose, of a plan with its run-time words filled."""
    return {
        "plan": 4 * L.op_base(plan[L.N_OPS]),
        "blob": plan[L.BLOB_LEN],
        "state": plan[L.STATE_LEN],
        "arena": plan[L.ARENA_LEN],
        "pinned": plan[L.PIN_LEN],
        "tensors": plan[L.LOGITS_OFF],
        "logits": 4 * plan[L.CLASSES],
        "scratch": plan[L.SCRATCH_LEN],
    }


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


def plan_crc(plan):
    """Value of PLAN_CRC as int32. The plan must be as in a file (see clear_runtime)."""
    crc = 0xFFFFFFFF
    for i in range(L.op_base(plan[L.N_OPS])):
        crc ^= 0 if i == L.PLAN_CRC else plan[i] & 0xFFFFFFFF
        for _ in range(32):
            crc = crc >> 1 ^ (0xEDB88320 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return crc - (1 << 32) if crc >> 31 else crc


# checks


def name(plan, index):
    kind = plan[L.op_base(index) + L.KIND]
    return "operator %d (%s)" % (
        index,
        L.KIND_NAMES[kind] if 0 < kind < len(L.KIND_NAMES) else "kind %d" % kind,
    )


def accumulator_bound(plan, o, f=0):
    """Largest |accumulator| that training can reach with f fraction bits (SPEC.md, 1.4)."""
    zp = plan[o + L.IN_ZP]
    swing = max(127 - zp, zp + 128)
    return ((127 + plan[o + L.EPS_W]) * swing * row_len(plan, o) + plan[o + L.B_MAX]) << f


def fits(plan, o, f):
    """Whether f fraction bits keep accumulators below 2^30 and perturbed weights in int16."""
    return accumulator_bound(plan, o, f) < _LIMIT and (127 + plan[o + L.EPS_W]) << f < 1 << 15


def fraction_bits(plan, o):
    """The largest F <= 8 that fits; 0 also when none does."""
    f = 8
    while f and not fits(plan, o, f):
        f -= 1
    return f


def validate(plan):
    """Checks a plan as read from a file; a ValueError names the operator and the cure."""
    if len(plan) < L.HEADER_WORDS or plan[L.MAGIC] != L.MAGIC_VALUE:
        raise ValueError("this is no microzo model, convert it with `microzo quantize`")
    if plan[L.MAJOR] != L.VERSION_MAJOR:
        raise ValueError(
            "the model has format version %d, this microzo reads %d, install the matching one"
            % (plan[L.MAJOR], L.VERSION_MAJOR)
        )
    n = plan[L.N_OPS]
    if not 1 <= n <= 255 or len(plan) != L.op_base(n):
        raise ValueError(
            "the plan is cut or altered (%d words, %d operators), copy the model again"
            % (len(plan), n)
        )
    _validate_header(plan)
    shapes = {plan[L.IN_TENSOR]: (plan[L.NET_IN_H], plan[L.NET_IN_W], plan[L.NET_IN_C])}
    for i in range(n):
        _validate_op(plan, i, shapes)
    _validate_output(plan)


def _refuse(what, cure="convert the model again"):
    raise ValueError(what + ", " + cure)


def _validate_header(plan):
    def within(word, low, high, what):
        if not low <= plan[word] <= high:
            _refuse("the plan's %s is %d, not %d..%d" % (what, plan[word], low, high))

    within(L.N_TENSORS, 2, 256, "number of tensors")
    for word in (L.NET_IN_H, L.NET_IN_W, L.NET_IN_C):
        within(word, 1, 65535, "input shape")
    if plan[L.NET_IN_H] * plan[L.NET_IN_W] * plan[L.NET_IN_C] >= _MAX_ELEMENTS:
        _refuse("the input has more than 2^24 values", "use smaller images")
    within(L.CLASSES, 1, 1024, "number of classes")
    within(L.IN_TENSOR, 0, plan[L.N_TENSORS] - 1, "input tensor")
    within(L.OUT_TENSOR, 0, plan[L.N_TENSORS] - 1, "output tensor")
    within(L.NET_IN_ZP, -128, 127, "input zero point")
    within(L.BLOB_LEN, 256, _LIMIT - 1, "data length")
    within(L.TABLE_OFF, 0, plan[L.BLOB_LEN] - 256, "input table offset")
    _check_scale(plan, L.LOGIT_MULT, L.LOGIT_SHIFT, "the plan's logits", 30)


def _check_scale(plan, mult, shift, who, most, least=_LIMIT):
    if plan[mult] and plan[mult] < least:
        _refuse("%s have multiplier %d, not 0 or %d..2^31-1" % (who, plan[mult], least))
    if not -31 <= plan[shift] <= most:
        _refuse("%s have shift %d, not -31..%d" % (who, plan[shift], most))


def _validate_op(plan, i, shapes):
    o = L.op_base(i)
    who = name(plan, i)
    kind = plan[o + L.KIND]
    if not L.CONV <= kind <= L.LUT:
        _refuse(who + " is unknown", "update microzo on the board")

    def within(word, low, high, what):
        if not low <= plan[o + word] <= high:
            _refuse("%s: %s is %d, not %d..%d" % (who, what, plan[o + word], low, high))

    for word in range(L.IN_H, L.OUT_C + 1):
        within(word, 1, 65535, "shape")
    if in_size(plan, o) >= _MAX_ELEMENTS or out_size(plan, o) >= _MAX_ELEMENTS:
        _refuse(who + ": a tensor has more than 2^24 values", "use a smaller network")
    if plan[o + L.FLAGS] & ~_flags(kind):
        _refuse(who + " has flags that its kind does not know", "update microzo on the board")
    within(L.TID, 0, (1 << 20) - 1, "stream id")
    for word in range(L.K_H, L.S_W + 1):
        within(word, 1, 255, "kernel or stride")
    for word in range(L.P_T, L.P_R + 1):
        within(word, 0, 255, "padding")
    for word in (L.IN_ZP, L.IN2_ZP, L.OUT_ZP, L.ACT_MIN, L.ACT_MAX):
        within(word, -128, 127, "zero point or clamp")
    if plan[o + L.ACT_MIN] > plan[o + L.ACT_MAX]:
        _refuse(who + ": the clamp range is empty")
    _validate_tensors(plan, o, who, shapes)
    _validate_shape(plan, o, who)
    if kind <= L.DENSE:
        _validate_weights(plan, o, who, within)
    elif kind == L.ADD:
        for mult, shift in ((L.MULT1, L.SHIFT1), (L.MULT2, L.SHIFT2)):
            if not -2 * _LIMIT < plan[o + mult] <= -_LIMIT:
                _check_scale(plan, o + mult, o + shift, who + ": inputs", 0)
            within(shift, -31, 0, "shift")
    if kind in (L.ADD, L.MUL, L.MEAN):
        least = _LIMIT // 2 if kind == L.MEAN else _LIMIT
        _check_scale(plan, o + L.MULT, o + L.SHIFT, who + ": outputs", 30, least)
    constant = 256 if kind == L.LUT else in2_size(plan, o) if plan[o + L.IN2] == -1 else 0
    if constant and not 0 <= plan[o + L.W_OFF] <= plan[L.BLOB_LEN] - constant:
        _refuse(who + ": its constant lies outside the data")


def _flags(kind):
    if kind <= L.DENSE:
        return L.EMIT_LOGITS | L.ROUND_ONCE
    return L.SPREAD_HW | L.SPREAD_C if kind in (L.ADD, L.MUL) else 0


def _validate_tensors(plan, o, who, shapes):
    """Every input is written before, with as many values; every output is written once."""
    inputs = [(plan[o + L.IN], in_size(plan, o))]
    if plan[o + L.IN2] != -1 or plan[o + L.KIND] == L.CONCAT:
        inputs.append((plan[o + L.IN2], in2_size(plan, o)))
    for t, size in inputs:
        if t not in shapes:
            _refuse("%s reads tensor %d, which nothing wrote" % (who, t))
        made = shapes[t]
        if made[0] * made[1] * made[2] != size:
            _refuse("%s reads %d values, tensor %d has shape %s" % (who, size, t, made))
    out = plan[o + L.OUT]
    if not 0 <= out < plan[L.N_TENSORS] or out in shapes:
        _refuse("%s writes tensor %d, which is taken or does not exist" % (who, out))
    shapes[out] = (plan[o + L.OUT_H], plan[o + L.OUT_W], plan[o + L.OUT_C])


def _validate_shape(plan, o, who):
    kind = plan[o + L.KIND]
    for in_, out, k, s, before, after in (
        (L.IN_H, L.OUT_H, L.K_H, L.S_H, L.P_T, L.P_B),
        (L.IN_W, L.OUT_W, L.K_W, L.S_W, L.P_L, L.P_R),
    ):
        room = plan[o + in_] + plan[o + before] + plan[o + after] - plan[o + k]
        if kind != L.CONCAT and (room < 0 or plan[o + out] != room // plan[o + s] + 1):
            _refuse(
                "%s: output size %d does not follow from its input, kernel and padding"
                % (who, plan[o + out])
            )
        if (
            kind in (L.AVGPOOL, L.MAXPOOL)
            and max(plan[o + before], plan[o + after]) >= plan[o + k]
        ):
            _refuse(who + ": the padding is as large as the kernel")
        windowless = kind == L.DENSE or kind >= L.ADD and kind != L.MEAN
        if windowless and (plan[o + k] != 1 or plan[o + s] != 1):
            _refuse(who + " has a kernel or stride")
        if (kind in (L.DENSE, L.ADD) or kind > L.PAD) and (plan[o + before] or plan[o + after]):
            _refuse(who + " has padding")
        if kind == L.DENSE and plan[o + in_] != 1:
            _refuse(who + ": its input is not flat")
    if kind == L.DWCONV and plan[o + L.OUT_C] % plan[o + L.IN_C]:
        _refuse(who + ": its output channels are no multiple of its input channels")
    if kind == L.CONCAT:
        grown = [plan[o + L.OUT_H + i] - plan[o + L.IN_H + i] for i in range(3)]
        if min(grown) < 0 or grown.count(0) != 2:
            _refuse(who + ": its output is not larger than its input in one dimension")
    elif kind > L.DENSE and plan[o + L.OUT_C] != plan[o + L.IN_C]:
        _refuse(who + " changes the number of channels")


def _validate_weights(plan, o, who, within):
    channels = plan[o + L.OUT_C]
    k = row_len(plan, o)
    if channels * k >= _MAX_ELEMENTS:
        _refuse(who + " has more than 2^24 weights", "use a smaller network")
    parts = [
        (L.W_OFF, channels * k),
        (L.B_OFF, 4 * channels),
        (L.M_OFF, 4 * channels),
        (L.S_OFF, channels),
    ]
    if plan[o + L.FLAGS] & L.EMIT_LOGITS:
        parts += [(L.L_OFF, 4 * channels), (L.LS_OFF, channels)]
    if plan[o + L.STAT_OFF] != -1:
        parts.append((L.STAT_OFF, 8 * channels))
    for word, length in parts:
        if plan[o + word] < 0 or plan[o + word] % 4 or plan[o + word] + length > plan[L.BLOB_LEN]:
            _refuse("%s: word %d points outside the data or is no multiple of 4" % (who, word))
    within(L.F, 0, 8, "F")
    within(L.B_MAX, 0, _LIMIT - 1, "largest bias")
    within(L.EPS_W, 0, 127, "weight perturbation")
    within(L.EPS_B, 0, 16, "bias perturbation")
    if not fits(plan, o, plan[o + L.F]):
        _refuse(
            "%s can overflow 32-bit sums (%d inputs to each output)" % (who, k),
            "make the layer narrower or split it",
        )


def _validate_output(plan):
    n = plan[L.N_OPS]
    last = L.op_base(n - 1)
    if plan[last + L.OUT] != plan[L.OUT_TENSOR] or out_size(plan, last) != plan[L.CLASSES]:
        _refuse("%s does not write the %d logits" % (name(plan, n - 1), plan[L.CLASSES]))
    for i in range(n):
        o = L.op_base(i)
        if plan[o + L.FLAGS] & L.EMIT_LOGITS:
            if i != n - 1 or not is_weighted(plan, o) or plan[o + L.OUT_C] != plan[L.CLASSES]:
                _refuse(name(plan, i) + " cannot make logits, only the last operator can")
    emits = plan[last + L.FLAGS] & L.EMIT_LOGITS
    if emits and plan[L.LOGIT_MULT] or not emits and not plan[L.LOGIT_MULT]:
        _refuse("the plan needs either LOGIT_MULT or an operator that makes logits")
