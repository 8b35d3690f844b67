"""The integer forward pass of SPEC.md section 1, for a batch of images in NumPy.

Used where thousands of images are pushed through a model at once: clean
channel statistics, int8 accuracy. Dot products run in floating point, which is
exact for sums below 2^24 (float32) or 2^53 (float64). Tests hold it to the oracle.
"""

import math

import numpy as np

from microzo.net import words as L

from ..model import file as modelfile
from ..model.network import correlate, padded, windows


def multiplier(scale):
    """(mult, shift) of a positive real scale, SPEC.md 1.2."""
    mantissa, exponent = math.frexp(scale)
    mult = round(mantissa * (1 << 31))
    if mult == 1 << 31:
        mult, exponent = 1 << 30, exponent + 1
    if exponent < -31:
        return 0, 0
    if exponent > 30:
        raise ValueError(f"scale {scale} is beyond 2^30: check the network's weights")
    return mult, exponent


def requant(acc, mult, shift):
    """SPEC.md 1.2 on int64 arrays; mult and shift broadcast against acc."""
    mult, shift = np.asarray(mult, np.int64), np.asarray(shift, np.int64)
    x = np.clip(acc << np.maximum(shift, 0), -(1 << 31), (1 << 31) - 1)
    x *= mult
    x += 1 << 30
    x >>= 31
    right = np.maximum(-shift, 0)
    mask = (np.int64(1) << right) - 1
    up = (x & mask) > (mask >> 1) + (x < 0)
    x >>= right
    x += up
    return x


def once(acc, mult, shift):
    """SPEC.md 1.2, one rounding, on int64 arrays; mult and shift broadcast against acc."""
    p, n = acc * np.asarray(mult, np.int64), 31 - np.asarray(shift, np.int64)
    return (p + (np.int64(1) << (n - 1)) - (p < 0)) >> n


def accumulators(op, x):
    """int64 (N, OH, OW, O) of a weighted operator on int8 input (N, H, W, C)."""
    x = x.reshape(-1, op.in_h, op.in_w, op.in_c)
    exact = np.float32 if 127 * 255 * op.row < 1 << 24 else np.float64
    real = x.astype(exact) - exact(op.in_zp)
    real = np.pad(real, ((0, 0), (op.p_t, op.p_b), (op.p_l, op.p_r), (0, 0)))
    stride, dilation = (op.s_h, op.s_w), (op.dil_h, op.dil_w)
    acc = correlate(real, op.weight.astype(exact), stride, op.kind == L.DWCONV, dilation)
    return acc.astype(np.int64) + op.bias


def finish(op, acc):
    """int8 output of a weighted operator from its accumulators."""
    scaled = once if op.flags & L.ROUND_ONCE else requant
    out = scaled(acc, op.mults, op.shifts) + op.out_zp
    return np.clip(out, op.act_min, op.act_max).astype(np.int8)


def logits(model, images, batch=500):
    """int64 (N, classes) in Q12 nats for uint8 images NxHxWxC."""
    parts = [_logits(model, images[i : i + batch]) for i in range(0, len(images), batch)]
    return np.concatenate(parts)


def predict(model, images):
    """Class numbers (N,) of uint8 images."""
    return logits(model, images).argmax(1)


def accuracy(model, images, labels):
    """Percent of images whose class is right."""
    return 100 * float((predict(model, images) == labels).mean())


def run_op(op, x, other=None):
    """int8 output of any operator for int8 inputs (N, H, W, C)."""
    if op.kind in modelfile.WEIGHTED:
        return finish(op, accumulators(op, x))
    x = x.reshape(-1, op.in_h, op.in_w, op.in_c)
    if op.kind == L.PAD:
        return padded(x, (op.p_t, op.p_b, op.p_l, op.p_r), op.in_zp)
    if op.kind == L.CONCAT:
        axis = 1 if op.out_h > op.in_h else 2 if op.out_w > op.in_w else 3
        return np.concatenate([x, _second(op, other)], axis)
    if op.kind == L.LUT:
        return op.weight[x.astype(np.int64) + 128]
    if op.kind in (L.ADD, L.MUL):
        other = _second(op, other).astype(np.int64)
        out = (_add if op.kind == L.ADD else _mul)(op, x.astype(np.int64), other)
    else:
        out = _pool(op, x.astype(np.int64))
    return np.clip(out, op.act_min, op.act_max).astype(np.int8)


def _logits(model, images):
    tensors = {model.in_tensor: model.table[images]}
    for op in model.ops:
        x = tensors[op.in1]
        if op.flags & L.EMIT_LOGITS:
            out = requant(accumulators(op, x), op.lmults, op.lshifts)
            return np.clip(out, -(1 << 20), 1 << 20).reshape(len(images), -1)
        tensors[op.out] = run_op(op, x, tensors.get(op.in2))
    out = tensors[model.out_tensor].astype(np.int64) - model.ops[-1].out_zp
    out = requant(out, model.logit_mult, model.logit_shift)
    return np.clip(out, -(1 << 20), 1 << 20).reshape(len(images), -1)


def _second(op, other):
    """The second operand of ADD, MUL, CONCAT (N or 1, h, w, c), broadcast where it is spread."""
    values = op.weight if other is None else other
    if op.kind == L.CONCAT:
        sides = ((op.in_h, op.out_h), (op.in_w, op.out_w), (op.in_c, op.out_c))
        shape = [after - before or before for before, after in sides]
    else:
        shape = [1, 1] if op.flags & L.SPREAD_HW else [op.in_h, op.in_w]
        shape.append(1 if op.flags & L.SPREAD_C else op.in_c)
    return values.reshape(-1, *shape)


def _mul(op, x, other):
    return requant((x - op.in_zp) * (other - op.in2_zp), op.mult, op.shift) + op.out_zp


def _add(op, x, other):
    a = requant((x - op.in_zp) << 20, op.mult1, op.shift1)
    b = requant((other - op.in2_zp) << 20, op.mult2, op.shift2)
    return requant(a + b, op.mult, op.shift) + op.out_zp


def _pool(op, x):
    pads = ((0, 0), (op.p_t, op.p_b), (op.p_l, op.p_r), (0, 0))
    kernel, stride = (op.k_h, op.k_w), (op.s_h, op.s_w)
    if op.kind == L.MAXPOOL:
        return windows(np.pad(x, pads, constant_values=-128), kernel, stride).max(axis=(4, 5))
    if op.kind == L.MEAN:
        total = windows(x - op.in_zp, kernel, stride).sum(axis=(4, 5))
        return requant(total, op.mult, op.shift) + op.out_zp
    inside = np.pad(np.ones((1, *x.shape[1:3], 1), np.int64), pads)
    count = windows(inside, kernel, stride).sum(axis=(4, 5))
    total = windows(np.pad(x, pads), kernel, stride).sum(axis=(4, 5))
    return np.sign(total) * ((np.abs(total) * 2 + count) // (2 * count))
