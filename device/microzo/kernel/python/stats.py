"""Means and deviations of accumulators (SPEC.md, section 1.9)."""

from struct import pack_into

from ...board.integers import root
from ...net import words as L
from .buffers import INT_MAX, bytes_in, check_out, get, integer, require
from .net import Net
from .perturb import plain, rows
from .requant import rdiv, sat
from .window import accumulators


def stats(plan, blob, state, arena, op, s, sums):
    net = Net(plan, blob, state, arena, (state, arena))
    o = net.weighted(op)
    integer(s, 0, 31, "s")
    check_out(sums, 16 * o[L.OUT_C])
    net.check_tensors(o)
    net.check_parts(o, L.WEIGHTS | L.BIASES)
    net.check_scratch(o)
    x = net.tensor(o)
    for c, w, bias in rows(net, o, op, plain()):
        s1 = s2 = 0
        for acc in accumulators(o, x, c, w, bias):
            acc >>= s
            s1 += acc
            s2 += acc * acc
        _add_int64(sums, 8 * c, s1)
        _add_int64(sums, 8 * (o[L.OUT_C] + c), s2)
    return 0


def _add_int64(buf, at, v):
    """Adds modulo 2^64."""
    v = (get("<q", buf, at) + v + (1 << 63) & (1 << 64) - 1) - (1 << 63)
    pack_into("<q", buf, at, v)


def stats_finish(n, s, sums, out):
    integer(n, 1, INT_MAX, "n")
    integer(s, 0, 31, "s")
    channels = bytes_in(sums, 16) // 16
    check_out(out, 8 * channels)
    pairs = [
        (get("<q", sums, 8 * c), get("<q", sums, 8 * (channels + c))) for c in range(channels)
    ]
    for s1, s2 in pairs:
        good = abs(s1) // n <= 1 << 30 and 0 <= s2 <= 1 << 62
        require(good, "sums of n accumulators are smaller")
    for c in range(channels):
        s1, s2 = pairs[c]
        q, r = divmod(s1, n)
        var = max(0, (s2 - 2 * q * r) // n - q * q)
        mean = sat(rdiv(s1, n) << s, -INT_MAX - 1, INT_MAX)
        pack_into("<i", out, 4 * c, mean)
        deviation = min(root(min(var, 1 << 54) << 8) << s, INT_MAX)
        pack_into("<i", out, 4 * (channels + c), deviation)
    return 0
