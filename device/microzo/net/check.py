"""Checks of a plan as read from a file (SPEC.md, sections 3 and 4.1).

Apart from plan.py because a board needs this code only while it loads a model.
"""

from . import words as L
from .arena import (
    accumulator_bound,
    align,
    bases,
    extent,
    in2_size,
    in_size,
    is_weighted,
    name,
    out_size,
    row_len,
    scratch,
)

_LIMIT = 1 << 30  # accumulators stay below this
_MOST_ACTIVATIONS = 1 << 26  # bytes of all of a model, however they are laid out
_MAX_ELEMENTS = 1 << 24  # of a tensor or a weight tensor
_MAX_CELLS = 1 << 22  # of a pool: their sum stays below 2^30
_MAX_PATCH = 64  # values of a patch of the input that has a covariance


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
    if plan[L.COV_OFF]:
        _validate_covariance(plan)
    _validate_output(plan)
    _validate_disjoint(plan)
    _validate_activations(plan)
    _validate_state(plan)


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
        within(word, 1, 65535, "kernel or stride")
    for word in range(L.P_T, L.P_R + 1):
        within(word, -65535 if kind == L.PAD else 0, 65535, "padding")
    if kind <= L.DENSE:
        for word in (L.DIL_H, L.DIL_W):
            within(word, 0, 65535, "dilation")
    width = plan[o + L.IN_W] + plan[o + L.P_L] + plan[o + L.P_R]
    if kind == L.DWCONV and 8 * width * plan[o + L.K_H] >= _MAX_ELEMENTS:
        _refuse(who + ": its kernel is too large", "use a smaller one")
    if kind > L.DENSE and plan[o + L.K_H] * plan[o + L.K_W] >= _MAX_CELLS:
        _refuse(who + ": a window has more than 2^22 values", "pool twice")
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
    constant = 0 if kind <= L.DENSE else _constant(plan, o)
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
        room = plan[o + in_] + plan[o + before] + plan[o + after] - extent(plan, o, k)
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


def _arrays(plan, o):
    """(word of the offset, bytes) of every array that an operator has in the blob."""
    channels = plan[o + L.OUT_C]
    if not is_weighted(plan, o):
        constant = _constant(plan, o)
        return [(L.W_OFF, constant)] if constant else []
    arrays = [
        (L.W_OFF, channels * row_len(plan, o)),
        (L.B_OFF, 4 * channels),
        (L.M_OFF, 4 * channels),
        (L.S_OFF, channels),
    ]
    if plan[o + L.FLAGS] & L.EMIT_LOGITS:
        arrays += [(L.L_OFF, 4 * channels), (L.LS_OFF, channels)]
    if plan[o + L.STAT_OFF] != -1:
        colored = plan[L.NET_FLAGS] & L.HAS_COLORS and plan[o + L.KIND] == L.CONV
        roots = channels * (channels + 1) if colored and channels <= 64 else 0
        arrays.append((L.STAT_OFF, 8 * channels + roots))
    return arrays


def _constant(plan, o):
    """Bytes of the constant of an ADD or MUL, or of the table of a LUT; 0: it has none."""
    if plan[o + L.KIND] == L.LUT:
        return 256
    return in2_size(plan, o) if plan[o + L.IN2] == -1 else 0


def _validate_weights(plan, o, who, within):
    k = row_len(plan, o)
    if plan[o + L.OUT_C] * k >= _MAX_ELEMENTS:
        _refuse(who + " has more than 2^24 weights", "use a smaller network")
    for word, length in _arrays(plan, o):
        if plan[o + word] < 0 or plan[o + word] % 4 or plan[o + word] + length > plan[L.BLOB_LEN]:
            _refuse("%s: word %d points outside the data or is no multiple of 4" % (who, word))
    within(L.F, 0, 8, "F")
    within(L.B_MAX, 0, _LIMIT - 1, "largest bias")
    within(L.EPS_W, 0, 127, "weight perturbation")
    within(L.EPS_B, 0, 16, "bias perturbation")
    within(L.ABS_SUM, 0, _LIMIT - 1, "sum of weights")
    if plan[o + L.ABS_SUM] and (plan[o + L.EPS_W] or plan[o + L.EPS_B] or plan[o + L.F]):
        _refuse(who + " is frozen and perturbed")
    if not fits(plan, o, plan[o + L.F]):
        _refuse(
            "%s can overflow 32-bit sums (%d inputs to each output)" % (who, k),
            "put a pooling layer before it or give it fewer inputs",
        )


def _validate_covariance(plan):
    """A covariance belongs to operator 0, which reads the input: nothing else was written."""
    o = L.op_base(0)
    k, at = row_len(plan, o), plan[L.COV_OFF]
    inside = plan[o + L.K_H] <= plan[o + L.IN_H] and plan[o + L.K_W] <= plan[o + L.IN_W]
    inside = inside and plan[o + L.DIL_H] <= 1 and plan[o + L.DIL_W] <= 1
    if plan[o + L.KIND] != L.CONV or not 2 <= k <= _MAX_PATCH or not inside:
        _refuse(name(plan, 0) + " cannot have a covariance of patches")
    if at < 0 or at % 4 or at + 2 * k * (k + 1) > plan[L.BLOB_LEN]:
        _refuse("the covariance of patches points outside the data or is no multiple of 4")


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


def _validate_disjoint(plan):
    """No two arrays share a byte: training one would change the other in the file that save
    writes. Intervals are apart if their begins and their ends, each sorted, take turns."""
    begins = [plan[L.TABLE_OFF]]
    ends = [plan[L.TABLE_OFF] + 256]
    if plan[L.COV_OFF]:
        k = row_len(plan, L.op_base(0))
        begins.append(plan[L.COV_OFF])
        ends.append(plan[L.COV_OFF] + 2 * k * (k + 1))
    for o in bases(plan):
        for word, length in _arrays(plan, o):
            begins.append(plan[o + word])
            ends.append(plan[o + word] + length)
    begins.sort()
    ends.sort()
    for i in range(1, len(begins)):
        if begins[i] < ends[i - 1]:
            _refuse("two tensors of the model share the byte at offset %d" % begins[i])


def _validate_activations(plan):
    """No layout of the arena takes more than all tensors one behind the other."""
    total = align(plan[L.NET_IN_H] * plan[L.NET_IN_W] * plan[L.NET_IN_C], 4)
    total += 4 * plan[L.CLASSES] + max(scratch(plan, o) for o in bases(plan))
    for o in bases(plan):
        total += align(out_size(plan, o), 4)
    if total > _MOST_ACTIVATIONS:
        _refuse(
            "its activations take %d bytes, the limit is 2^26" % total,
            "use smaller images or a smaller network",
        )


def _validate_state(plan):
    """All that could be trained stays below 2^30 bytes: offsets are small integers of a board."""
    left = _LIMIT - 1
    for o in bases(plan):
        if is_weighted(plan, o):
            channels = plan[o + L.OUT_C]
            left -= align(2 * channels * row_len(plan, o), 8)
            left -= align(4 * channels, 8) + align(5 * channels, 8)
            if left < 0:
                _refuse("the trainable values take 2^30 bytes or more", "use a smaller network")
