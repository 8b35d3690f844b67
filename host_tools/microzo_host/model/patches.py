"""Covariance of the patches that the first convolution reads, of clean images (SPEC.md, 3).

The stage refilter compares it with that of the shifted data.
"""

import numpy as np

from microzo.net import words as L

from .network import windows

MOST = 64  # values of a patch
BATCH = 1 << 16  # patches at a time, at most 32 MB


def length(op):
    """Values of the lower triangle for a first operator ``op``."""
    return op.row * (op.row + 1) // 2


def has_covariance(op):
    """Whether a network whose first operator is ``op`` has a covariance."""
    fits = op.k_h <= op.in_h and op.k_w <= op.in_w
    fits = fits and op.dil_h == op.dil_w == 1
    return op.kind == L.CONV and fits and 2 <= op.row <= MOST


def covariance(op, x):
    """int32 (K(K+1)/2,), lower triangle by rows, 256 times the covariance of int8 values.

    ``op``: the network's first operator; ``x``: its int8 input (N, H, W, C). Every position
    where the kernel lies wholly inside the image counts once. None if there is none, or nothing
    but zeros. Exact: sums of products of int8 values stay far below 2^53.
    """
    if not has_covariance(op):
        return None
    x = x.reshape(-1, op.in_h, op.in_w, op.in_c)
    positions = (op.in_h - op.k_h + 1) * (op.in_w - op.k_w + 1)
    step = max(1, BATCH // positions)
    sums, products = np.zeros(op.row, np.int64), np.zeros((op.row, op.row), np.int64)
    for start in range(0, len(x), step):
        view = windows(x[start : start + step], (op.k_h, op.k_w), (1, 1))
        rows = view.transpose(0, 1, 2, 4, 5, 3).reshape(-1, op.row).astype(np.float64)
        sums += rows.sum(0).astype(np.int64)
        products += (rows.T @ rows).astype(np.int64)
    result = _rounded(len(x) * positions, sums.tolist(), products.tolist())
    return result if result.any() else None


def _rounded(n, sums, products):
    """rdiv(2^8 (n S_ij - S_i S_j), n^2) in Python's integers: products go beyond 64 bits."""
    values = [
        (512 * (n * products[i][j] - sums[i] * sums[j]) + n * n) // (2 * n * n)
        for i in range(len(sums))
        for j in range(i + 1)
    ]
    return np.array(values, np.int32)
