"""Step sizes of exact gradients that suit the model: the tangent kernel, measured on a few
samples.

A step of shift n moves the logits of the samples by about 2^-n * batch * kernel errors, so that
n = log2(batch * kernel) is the same step for every model (SPEC.md, section 6). Outputs that a
clamp stops have no gradient: their share is measured. Integers only:
boards and hosts agree.
"""

from ..board.integers import int8, log2
from ..net import arena as planner
from ..net import words as L

_SAMPLES = 16
_ONE = 62  # fraction bits of the scales below


def shifts(model, gradient, conv, samples, batch):
    """(shift of convolution `conv`, 0 for -1, shift of the head) of a unit step, from the first
    _SAMPLES of the samples (stage.Drawn).

    Allocates; called once, before the first step of a stage.
    """
    plan = model.plan
    count = samples.count
    n = min(count, _SAMPLES)
    op = conv
    head_norm = conv_norm = 0
    head = L.op_base(gradient.head)
    conv = L.op_base(conv) if conv >= 0 else -1
    for j in range(n):
        samples.load_first(j)
        model.k.forward(plan, model.blob, model.state, model.arena, gradient.first, model.ops, 0)
        head_norm += _norm(model, head)
        if conv >= 0:
            conv_norm += _norm(model, conv) * _open(model, gradient.live) >> 16
    logit = _logit_scale(model, head)
    head_shift = log2(batch * head_norm * logit // n) - _ONE
    if conv < 0:
        return 0, head_shift
    taps = plan[conv + L.K_H] * plan[conv + L.K_W]
    outputs = plan[conv + L.OUT_H] * plan[conv + L.OUT_W]
    inputs = plan[conv + L.IN_H] * plan[conv + L.IN_W]
    # of Sum_p x over the output positions, whose mean (not sum) reaches the head
    conv_norm = conv_norm * taps * outputs // (inputs * inputs * n)
    gain = _gain(model, op, gradient)
    # More samples overfit less: from 256 on, the step grows with them.
    more = log2(3 * count // 512)
    return log2(batch * conv_norm * gain * logit) - 2 * _ONE - 4 - more, head_shift


def _norm(model, o):
    """Squared norm of the channel sums of an operator's input."""
    plan = model.plan
    at = plan[o + L.IN_OFF]
    channels = plan[o + L.IN_C]
    zp = plan[o + L.IN_ZP]
    arena = model.arena
    total = 0
    for c in range(channels):
        s = 0
        for i in range(at + c, at + planner.in_size(plan, o), channels):
            s += int8(arena[i]) - zp
        total += s * s
    return total


def _open(model, live):
    """Square of the share of the convolution's outputs that no clamp stops, Q16."""
    plan = model.plan
    ops = [L.op_base(i) for i in live]
    size = planner.out_size(plan, ops[0])
    arena = model.arena
    n = 0
    for i in range(size):
        for o in ops:
            y = int8(arena[plan[o + L.OUT_OFF] + i])
            if not plan[o + L.ACT_MIN] < y < plan[o + L.ACT_MAX]:
                break
        else:
            n += 1
    return (n << 8) // size * ((n << 8) // size)


def _scale(mult, shift):
    return mult << (31 + shift)


def _logit_scale(model, head):
    """Q12 nats of a logit for one unit of the head's sums, mean over the classes."""
    plan = model.plan
    channels = plan[head + L.OUT_C]
    if plan[head + L.FLAGS] & L.EMIT_LOGITS:
        return (
            sum(_scales(model.blob, plan[head + L.L_OFF], plan[head + L.LS_OFF], channels))
            // channels
            >> 12
        )
    out = _scale(plan[L.LOGIT_MULT], plan[L.LOGIT_SHIFT])
    scales = _scales(model.blob, plan[head + L.M_OFF], plan[head + L.S_OFF], channels)
    return sum(scales) // channels * out >> _ONE + 12


def _scales(blob, m_off, s_off, channels):
    for c in range(channels):
        at = m_off + 4 * c
        mult = blob[at] | blob[at + 1] << 8 | blob[at + 2] << 16 | blob[at + 3] << 24
        yield _scale(mult, int8(blob[s_off + c]))


def _gain(model, op, gradient):
    """Sum over the channels of convolution `op` of (head weight)^2 * requantization scale, mean
    over the classes."""
    plan = model.plan
    conv = L.op_base(op)
    head = L.op_base(gradient.head)
    classes = plan[head + L.OUT_C]
    channels = plan[conv + L.OUT_C]
    row = planner.row_len(plan, head)
    weights = bytearray(classes * row)
    model.k.export_weights(plan, model.state, gradient.head, weights)
    if plan[conv + L.MS_OFF] >= 0:
        at = plan[conv + L.MS_OFF]
        scales = _scales(model.state, at, at + 4 * channels, channels)
    else:
        scales = _scales(model.blob, plan[conv + L.M_OFF], plan[conv + L.S_OFF], channels)
    total = c = 0
    for scale in scales:  # row is a whole number of times the channels
        squares = 0
        for i in range(c, classes * row, channels):
            squares += int8(weights[i]) ** 2
        total += squares * scale
        c += 1
    add = gradient.live[-1]
    return _through(plan, L.op_base(add), plan[conv + L.OUT], total // classes)


def _through(plan, o, tensor, gain):
    """The gain behind the ADD at o, if there is one; `tensor` is one of its operands."""
    if plan[o + L.KIND] != L.ADD:
        return gain
    at = L.MULT1 if plan[o + L.IN] == tensor else L.MULT2
    one = abs(_scale(plan[o + at], plan[o + at + 1]))
    return gain * (one * _scale(plan[o + L.MULT], plan[o + L.SHIFT]) >> _ONE) >> _ONE - 20
