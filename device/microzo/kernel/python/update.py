"""The zeroth-order update (SPEC.md, section 1.8)."""

from struct import pack_into, unpack_from

from ...net import words as L
from ...net.arena import row_len
from .buffers import check, integer
from .net import Net
from .perturb import trained
from .requant import renormalized, rsh, sat
from .rng import check_seed, keys, sign_row
from .state import move_bias, move_master


def update(plan, blob, state, arena, params, pairs):
    net = Net(plan, blob, state, arena, (state, arena))
    check(params, 0, 20)
    lo, hi, what, n, shift = unpack_from("<5i", params, 0)
    integer(lo, 0, integer(hi, 0, net.n_ops, "hi"), "lo")
    integer(what, 0, 7, "what")
    check(pairs, 0, 8 * integer(n, 0, 64, "n"))
    integer(shift, 0, 31, "shift")
    pairs = [unpack_from("<2i", pairs, 8 * j) for j in range(n)]
    for seed, coef in pairs:
        check_seed(seed)
        integer(coef, -(1 << 20), 1 << 20, "a coefficient")
    for o in net.weighted_ops(lo, hi):
        net.check_parts(o, L.MULTIPLIERS)
    for o in net.weighted_ops(lo, hi):
        parts = trained(o, what)
        channels = o[L.OUT_C]
        if parts & L.WEIGHTS:
            k = row_len(o, 0)
            streams = _streams(o, pairs, 0)
            for c in range(channels):
                g = _sums(streams, c, k)
                for r in range(k):
                    move_master(net, o, c * k + r, rsh(g[r] * o[L.EPS_W], shift))
        if parts & L.BIASES:
            g = _sums(_streams(o, pairs, 1), 0, channels)
            for c in range(channels):
                move_bias(net, o, c, rsh(g[c] * net.bias_step(o, c), shift + 8))
        if parts & L.MULTIPLIERS:
            g = _sums(_streams(o, pairs, 3), 0, channels)
            for c in range(channels):
                _move_scale(net, o, c, g[c], shift + 8)
    return 0


def _streams(o, pairs, stream):
    return [(keys(seed, 4 * o[L.TID] + stream), coef) for seed, coef in pairs]


def _sums(streams, row, k):
    """Sums of coefficient * sign of one row."""
    g = [0] * k
    for stream, coef in streams:
        signs = sign_row(stream, row, k)
        for r in range(k):
            g[r] += coef * signs[r]
    return g


def _move_scale(net, o, c, g, shift):
    mult, exponent = net.scale(o, c)
    mult = sat(mult - rsh(g * (mult >> 8), shift), mult >> 1, 2 * mult)
    mult, exponent = renormalized(mult, exponent)
    pack_into("<i", net.state, o[L.MS_OFF] + 4 * c, mult)
    pack_into("b", net.state, o[L.MS_OFF] + 4 * o[L.OUT_C] + c, exponent)
