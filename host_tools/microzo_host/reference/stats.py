"""Channel statistics and realign (SPEC.md, 1.9)."""

from math import isqrt

import numpy as np

from .ops import Reading, accumulators
from .requant import INT32_MAX, INT32_MIN, rdiv


def accumulate_sums(net, o, s, sums):
    """Adds S1[C], S2[C] of one sample to sums int64[2, C] (modulo 2^64)."""
    acc, _ = accumulators(net, o, Reading())
    scaled = acc >> s
    sums[0] += scaled.sum(axis=0)
    sums[1] += (scaled * scaled).sum(axis=0)


def finish(n, s, s1, s2):
    """(mean, sd Q4) of one channel, Python ints."""
    q, r = divmod(s1, n)
    mean = rdiv(s1, n) << s
    var = max(0, (s2 - 2 * q * r) // n - q * q)
    sd = isqrt(min(var, 1 << 54) << 8) << s
    return min(max(mean, INT32_MIN), INT32_MAX), min(sd, INT32_MAX)


def realign_channel(held, file, clean, target, alpha, b_max):
    """(bias, mult, shift) of one channel from those it has and those of the file; clean and target
    are (mean, sd)."""
    (mean0, sd0), (mean, sd) = clean, target
    if sd0 <= 0 or sd <= 0:
        return held
    bias, mult, shift = file
    r = min(max((sd0 << 16) // sd, 1 << 14), 1 << 18)
    moved = min(max(held[0] + rdiv(mean0 << 16, r) - mean, -b_max), b_max)
    r = 65536 + (((r - 65536) * alpha) >> 8)
    bias += ((moved - bias) * alpha) >> 8
    return bias, *renormalize(mult * r, shift)


def renormalize(p, shift):
    """mult * r (Q16) back to mult in [2^30, 2^31); 0 stays 0."""
    while p >= 1 << 47:
        p, shift = p >> 1, shift + 1
    while 0 < p < 1 << 46:
        p, shift = p << 1, shift - 1
    return p >> 16, min(max(shift, -31), 30)


def realign(net, o, target, alpha):
    """int64[3, C]: bias, mult, shift of operator o moved to the target statistics int32[2, C]."""
    held = np.stack([net.bias(o), *net.scale(o)])
    file = np.stack([net.file_bias(o), *net.file_scale(o)])
    channels = (table.T.tolist() for table in (held, file, net.clean(o), target))
    rows = [realign_channel(*channel, alpha, o.b_max) for channel in zip(*channels, strict=True)]
    return np.array(rows, np.int64).T
