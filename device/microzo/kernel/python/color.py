"""How channels vary together, and weights that bring it back (SPEC.md, sections 1.12 and 4)."""

from struct import pack_into, unpack_from

from ...net import words as L
from ...net.arena import row_len
from .buffers import check, check_out, get, integer, require
from .net import Net
from .perturb import plain, rows
from .requant import rdiv
from .rng import check_seed, derive

_COLORS = 64
_ONE = 1 << 23
_MOST = 1 << 28
_ROUNDS = 16
_NEAR = 32
_VALUE = 1 << 20
_PEAK = 32512


def _op(net, index):
    o = net.op(index)
    require(o[L.KIND] == L.CONV, "the operator is no CONV")
    require(o[L.OUT_C] <= _COLORS, "recolor takes at most 64 channels")
    return o


def color_sums(plan, blob, state, arena, params, sums, products):
    net = Net(plan, blob, state, arena)
    check(params, 0, 20)
    op, seed, sample, places, shift = unpack_from("<5i", params, 0)
    o = _op(net, op)
    c = o[L.OUT_C]
    check_seed(seed)
    integer(sample, 0, (1 << 28) - 1, "sample")
    integer(places, 0, (1 << 16) - 1, "places")
    integer(shift, 0, 31, "shift")
    net.check_tensors(o)
    net.check_parts(o, L.WEIGHTS | L.BIASES)
    net.check_scratch(o)
    check_out(sums, 8 * c)
    check_out(products, 4 * c * (c + 1))
    weights = [w for _, w, _ in rows(net, o, op, plain())]
    for p in range(places):
        where = derive(seed, sample, p)
        patch = _patch(net, o, (where >> 15) % o[L.OUT_H], (where & 32767) % o[L.OUT_W])
        values = []
        at = 0
        for i in range(c):
            w = weights[i]
            v = sum(x * w[j] for j, x in patch) >> shift
            values.append(v)
            _add(sums, i, v)
            for other in values:
                _add(products, at, v * other)
                at += 1
    return 0


def _patch(net, o, y, x):
    """(place among a row's weights, value less the zero point) of what one output reads."""
    patch = []
    for ky in range(o[L.K_H]):
        iy = y * o[L.S_H] - o[L.P_T] + ky * max(1, o[L.DIL_H])
        for kx in range(o[L.K_W]):
            ix = x * o[L.S_W] - o[L.P_L] + kx * max(1, o[L.DIL_W])
            if 0 <= iy < o[L.IN_H] and 0 <= ix < o[L.IN_W]:
                at = o[L.IN_OFF] + (iy * o[L.IN_W] + ix) * o[L.IN_C]
                to = (ky * o[L.K_W] + kx) * o[L.IN_C]
                for i in range(o[L.IN_C]):
                    patch.append((to + i, get("b", net.arena, at + i) - o[L.IN_ZP]))
    return patch


def _add(sums, i, v):
    """Modulo 2^64."""
    v = get("<q", sums, 8 * i) + v & (1 << 64) - 1
    pack_into("<q", sums, 8 * i, v - (v >> 63 << 64))


def color_map(plan, blob, params, sums, products, room, out):
    net = Net(plan, blob)
    check(params, 0, 12)
    op, n, shrink = unpack_from("<3i", params, 0)
    o = _op(net, op)
    c = o[L.OUT_C]
    integer(n, 1, 1 << 20, "n")
    integer(shrink, 1, 256, "shrink")
    cells = c * (c + 1) // 2
    require(o[L.STAT_OFF] >= 0, "the operator has no clean statistics")
    check(blob, o[L.STAT_OFF], 8 * c + 2 * cells, 4)
    check(sums, 0, 8 * c)
    check(products, 0, 8 * cells)
    check_out(room, 12 * c * c)
    check_out(out, 2 * c * c)
    root = unpack_from("<%dh" % cells, blob, o[L.STAT_OFF] + 8 * c)
    d, y = _correlations(c, n, shrink, sums, products, root)
    most = max(sum(abs(v) for v in row) for row in y)
    z = _inverse_root(c, [[v * _ONE // most for v in row] for row in y])
    widest = max(d)
    for i in range(c):
        row = [root[max(i, k) * (max(i, k) + 1) // 2 + min(i, k)] for k in range(c)]
        _put_row(out, i, row, z, d, widest)
    return 0


def _correlations(c, n, shrink, sums, products, root):
    means = [get("<q", sums, 8 * i) // n for i in range(c)]
    require(all(-_VALUE <= v < _VALUE for v in means), "n positions cannot give these sums")
    central = []
    at = 0
    for i in range(c):
        for j in range(i + 1):
            product = get("<q", products, 8 * at)
            at += 1
            require(abs(product) <= _VALUE * _VALUE * n, "n positions cannot give these products")
            product -= means[i] * get("<q", sums, 8 * j) + means[j] * get("<q", sums, 8 * i)
            central.append(product + n * means[i] * means[j])
    diagonal = [i * (i + 3) // 2 for i in range(c)]
    d = [isqrt(central[k]) if central[k] > 0 and root[k] > 0 else 0 for k in diagonal]
    a = [[_ONE if i == j else 0 for j in range(c)] for i in range(c)]
    for i in range(c):
        for j in range(i):
            if d[i] and d[j]:
                v = _limited(central[i * (i + 1) // 2 + j] // d[i], 1 << 32)
                v = _limited(v * _ONE // d[j], _ONE) * (256 - shrink) >> 8
                a[i][j] = a[j][i] = v
    return d, a


def isqrt(n):
    """Square root of n > 0, rounded down."""
    root = 0
    for i in range(31, -1, -1):
        if (root | 1 << i) ** 2 <= n:
            root |= 1 << i
    return root


def _limited(v, most):
    return max(-most, min(most, v))


def _times(a, b):
    """Product of two matrices in Q23."""
    columns = list(zip(*b))  # noqa: B905 (MicroPython has no strict)
    return [
        [
            _limited(sum(u * v for u, v in zip(row, column)) + _ONE // 2 >> 23, _MOST)  # noqa: B905
            for column in columns
        ]
        for row in a
    ]


def _inverse_root(c, y):
    z = [[_ONE if i == j else 0 for j in range(c)] for i in range(c)]
    for _ in range(_ROUNDS):
        m = _times(z, y)
        off = 0
        for i in range(c):
            for j in range(c):
                unit = _ONE if i == j else 0
                apart = unit - m[i][j]
                off = max(off, abs(apart))
                m[i][j] = unit + (apart >> 1)
        if off <= _NEAR:
            break
        y = _times(y, m)
        z = _times(m, z)
    return z


def _put_row(out, i, root, z, d, widest):
    c = len(d)
    values = [0] * c
    for j in range(c):
        if d[j]:
            v = sum(root[k] * z[k][j] for k in range(c))
            values[j] = (v >> 12) * min((widest << 15) // d[j], 1 << 24) >> 16
    peak = max(abs(v) for v in values)
    for j in range(c):
        if peak and d[i]:
            value = rdiv(values[j] * 32767, peak)
        else:
            value = 32767 if j == i else 0
        pack_into("<h", out, 2 * (i * c + j), value)


def color_mix(plan, state, op, mapping):
    net = Net(plan, b"", state, b"", (state,))
    o = _op(net, op)
    require(o[L.MASTER_OFF] >= 0, "the operator has no masters")
    net.check_parts(o)
    c = o[L.OUT_C]
    k = row_len(o, 0)
    check(mapping, 0, 2 * c * c)
    mix = [unpack_from("<%dh" % c, mapping, 2 * i * c) for i in range(c)]
    peaks = [1] * c
    for write in (False, True):
        for at in range(o[L.MASTER_OFF], o[L.MASTER_OFF] + 2 * k, 2):
            column = [get("<h", state, at + 2 * j * k) for j in range(c)]
            for i in range(c):
                v = sum(u * w for u, w in zip(mix[i], column))  # noqa: B905
                if write:
                    pack_into("<h", state, at + 2 * i * k, rdiv(v * _PEAK, peaks[i]))
                else:
                    peaks[i] = max(peaks[i], abs(v))
    return 0
