"""Sums over patches of an input at drawn places (SPEC.md, 1.11 and 4)."""

import numpy as np

from . import rng


def add_sums(o, x, seed, sample, patches, sums, products):
    """Adds the values of `patches` windows of int8 x[H, W, C] and their products, modulo 2^32."""
    lower = np.tril_indices(o.k)
    high, wide = o.in_h - o.k_h + 1, o.in_w - o.k_w + 1
    for p in range(patches):
        where = rng.derive(seed, sample, p)
        top, left = (where >> 15) % high, (where & 32767) % wide
        window = x[top : top + o.k_h, left : left + o.k_w].reshape(-1).astype(np.int32)
        sums += window
        products += np.outer(window, window)[lower]
