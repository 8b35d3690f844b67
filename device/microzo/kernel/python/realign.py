"""Biases and multipliers that give an operator its clean statistics (SPEC.md, section 1.9)."""

from struct import pack_into

from ...net import words as L
from .buffers import check, check_out, get, integer, require
from .net import Net
from .requant import rdiv, sat


def realign(plan, blob, state, op, stats, alpha, out):
    net = Net(plan, blob, state)
    o = net.weighted(op)
    channels = o[L.OUT_C]
    integer(alpha, 0, 256, "alpha")
    moves = o[L.BIAS_OFF] >= 0 and o[L.MS_OFF] >= 0
    require(moves, "realign needs the operator's biases and multipliers in the state")
    net.check_parts(o, 0, L.BIASES | L.MULTIPLIERS)
    check(blob, o[L.STAT_OFF], 8 * channels, 4)
    check(stats, 0, 8 * channels)
    check_out(out, 12 * channels)
    for c in range(channels):
        clean = _mean_deviation(blob, o[L.STAT_OFF], channels, c)
        target = _mean_deviation(stats, 0, channels, c)
        values = (net.bias(o, c),) + net.scale(o, c)
        if clean[1] > 0 and target[1] > 0:
            values = _realigned(net, o, c, values[0], clean, target, alpha)
        for i in range(3):
            pack_into("<i", out, 4 * (i * channels + c), values[i])
    return 0


def _mean_deviation(buf, at, channels, c):
    return get("<i", buf, at + 4 * c), get("<i", buf, at + 4 * (channels + c))


def _realigned(net, o, c, trained_bias, clean, target, alpha):
    """(bias, mult, shift), from those of the model file."""
    bias = net.bias(o, c, False)
    mult, shift = net.scale(o, c, False)
    r = sat((clean[1] << 16) // target[1], 1 << 14, 1 << 18)
    moved = sat(trained_bias + rdiv(clean[0] << 16, r) - target[0], -o[L.B_MAX], o[L.B_MAX])
    bias += (moved - bias) * alpha >> 8
    p = mult * (65536 + ((r - 65536) * alpha >> 8))
    while p >= 1 << 47:
        p >>= 1
        shift += 1
    while 0 < p < 1 << 46:
        p <<= 1
        shift -= 1
    return bias, p >> 16, sat(shift, -31, 30)
