"""How channels vary together, and weights that bring it back (SPEC.md, 1.12)."""

from math import isqrt

import numpy as np

from . import ops, rng
from .requant import rdiv

COLORS = 64  # channels at most
ONE, MOST = 1 << 23, 1 << 28
ROUNDS, NEAR = 16, 32
VALUE = 1 << 20  # limit of a measured value
PEAK = 32512  # of a master


def add_sums(net, o, seed, sample, places, shift, sums, products):
    """Adds values int64[places, C] at drawn positions to sums int64[C], and their products to
    int64[C(C+1)/2]; modulo 2^64."""
    weights, _, _ = ops.Reading().parameters(net, o)
    acc = ops.accumulate(o, net.input(o), weights, 0).reshape(o.out_h, o.out_w, o.out_c)
    lower = np.tril_indices(o.out_c)
    for p in range(places):
        where = rng.derive(seed, sample, p)
        v = acc[(where >> 15) % o.out_h, (where & 32767) % o.out_w] >> shift
        sums += v
        products += np.outer(v, v)[lower]


def color_map(n, shrink, sums, products, root):
    """int64[C, C] from sums over n positions; root: int16 lower triangle. None for sums that n
    positions cannot give."""
    r0 = unfolded([int(v) for v in root], len(sums))
    alive = [r0[i][i] for i in range(len(r0))]
    d, y = correlations(n, shrink, [int(v) for v in sums], [int(v) for v in products], alive)
    if y is None:
        return None
    _, z = roots(y)
    widest = max(d)
    share = [min((widest << 15) // v, 1 << 24) if v else 0 for v in d]
    rows = ((np.array(r0, np.int64) @ z >> 12) * np.array(share, np.int64)) >> 16
    out = np.zeros_like(rows)
    for i, row in enumerate(rows.tolist()):
        peak = max(map(abs, row))
        if peak and d[i]:
            out[i] = [rdiv(v * 32767, peak) for v in row]
        else:
            out[i, i] = 32767
    return out


def unfolded(lower, c):
    """c x c lists of a symmetric matrix from its lower triangle."""
    return [
        [lower[max(i, j) * (max(i, j) + 1) // 2 + min(i, j)] for j in range(c)] for i in range(c)
    ]


def correlations(n, shrink, sums, products, alive):
    """(deviations, int64[C, C] in Q23) from Python ints; None for the matrix of impossible sums.
    A channel whose entry of `alive` is not above 0 has no deviation."""
    c = len(sums)
    means = [v // n for v in sums]
    if not all(-VALUE <= v < VALUE for v in means):
        return None, None
    if not all(abs(v) <= VALUE * VALUE * n for v in products):
        return None, None
    a = unfolded(products, c)
    central = [
        [a[i][j] - means[i] * sums[j] - means[j] * sums[i] + n * means[i] * means[j]
         for j in range(c)] for i in range(c)
    ]  # fmt: skip
    d = [isqrt(central[i][i]) if central[i][i] > 0 and alive[i] > 0 else 0 for i in range(c)]
    y = np.zeros((c, c), np.int64)
    for i in range(c):
        y[i, i] = ONE
        for j in range(i):
            if d[i] and d[j]:
                v = _limited(central[i][j] // d[i], 1 << 32)
                v = _limited(v * ONE // d[j], ONE)
                y[i, j] = y[j, i] = v * (256 - shrink) >> 8
    return d, y


def roots(correlations):
    """(a^(1/2), a^(-1/2)) in Q23, int64[C, C], of a correlation matrix divided by its largest sum
    of a row; the coupled Newton iteration (Higham 2008, Functions of Matrices, 6.35)."""
    y = correlations * ONE // np.abs(correlations).sum(1).max()
    unit = np.eye(len(y), dtype=np.int64) * ONE
    z = unit
    for _ in range(ROUNDS):
        apart = unit - _times(z, y)
        if np.abs(apart).max() <= NEAR:
            break
        m = unit + (apart >> 1)
        y, z = _times(y, m), _times(m, z)
    return y, z


def _times(a, b):
    return np.clip((a @ b + ONE // 2) >> 23, -MOST, MOST)


def _limited(v, most):
    return max(-most, min(most, v))


def mix(masters, mapping):
    """Every row of int16[C, K] becomes a mixture of all rows, in place."""
    mixed = mapping.astype(np.int64) @ masters.astype(np.int64)
    for row, values in zip(masters, mixed.tolist(), strict=True):
        peak = max(1, *map(abs, values))
        row[:] = [rdiv(v * PEAK, peak) for v in values]
