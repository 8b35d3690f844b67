"""Counter-based random numbers (SPEC.md, section 2). Seeds are ints in [0, 2^30)."""

import numpy as np

_MASK = 0xFFFFFFFF
DERIVE_STREAM, SHUFFLE_STREAM = 0xD0000000, 0xE0000000


def mix(x):
    x ^= x >> 16
    x = x * 0x7FEB352D & _MASK
    x ^= x >> 15
    x = x * 0x846CA68B & _MASK
    return x ^ x >> 16


def words(seed, t, n):
    """Words number n (int array) of stream t, as uint32 values in an int64 array."""
    k1 = mix((seed + 0x9E3779B9 * (t + 1)) & _MASK)
    k2 = mix((~seed + 0x85EBCA6B * (t + 1)) & _MASK)
    x = (np.asarray(n, np.int64) + k1).astype(np.uint64) & np.uint64(_MASK)
    x ^= x >> np.uint64(16)
    x = x * np.uint64(0x7FEB352D) & np.uint64(_MASK)
    x = (x + np.uint64(k2)) & np.uint64(_MASK)
    x ^= x >> np.uint64(15)
    x = x * np.uint64(0x846CA68B) & np.uint64(_MASK)
    x ^= x >> np.uint64(16)
    return x.astype(np.int64)


def signs(seed, t, rows, k):
    """int64[rows, k] of +1 and -1: rows 0..rows-1 of stream t."""
    return sign_rows(seed, t, np.arange(rows), k)


def sign_rows(seed, t, rows, k):
    """int64[len(rows), k] of +1 and -1, for the given row numbers."""
    per_row = (k + 31) // 32
    index = (np.asarray(rows, np.int64)[:, None] * per_row + np.arange(per_row)) & _MASK
    r = np.arange(k)
    bit = ((r & 31) >> 2) + 8 * (r & 3)
    return 1 - 2 * (words(seed, t, index)[:, r >> 5] >> bit & 1)


def derive(seed, a, b):
    return int(words(seed, DERIVE_STREAM + a, b)) >> 2


def shuffle(seed, idx):
    """Shuffles the uint16 array idx in place."""
    draws = words(seed, SHUFFLE_STREAM, np.arange(len(idx)))
    for i in range(len(idx) - 1, 0, -1):
        j = int(draws[i]) * (i + 1) >> 32
        idx[i], idx[j] = idx[j], idx[i]
