"""Requantization and the small roundings (SPEC.md, 1.2). Everything is exact in int64."""

import math

import numpy as np

INT32_MIN, INT32_MAX = -(1 << 31), (1 << 31) - 1


def sat(v, low, high):
    return np.clip(v, low, high)


def rsh(v, n):
    """v / 2^n rounded half up; a left shift for n <= 0. v int64, n int or int array."""
    v, n = np.broadcast_arrays(np.asarray(v, np.int64), np.asarray(n, np.int64))
    right = np.maximum(n, 1)
    return np.where(n > 0, (v + (np.int64(1) << (right - 1))) >> right, v << np.maximum(-n, 0))


def rdiv(a, b):
    """a / b rounded to nearest, half up, b > 0 (Python ints)."""
    return (2 * a + b) // (2 * b)


def requant(acc, mult, shift):
    """acc * mult * 2^(shift - 31), rounded twice. int64 arrays that broadcast; |acc| <= 2^32."""
    acc, mult, shift = (np.asarray(v, np.int64) for v in (acc, mult, shift))
    x = sat(acc << np.maximum(shift, 0), INT32_MIN, INT32_MAX)
    x = (x * mult + (1 << 30)) >> 31
    r = np.maximum(-shift, 0)
    mask = (np.int64(1) << r) - 1
    away = (x & mask) > (mask >> 1) + (x < 0)
    return np.where(r > 0, (x >> r) + away, x)


def once(acc, mult, shift):
    """acc * mult * 2^(shift - 31), rounded once, half away from zero; |acc| < 2^31."""
    acc, mult, shift = np.broadcast_arrays(*(np.asarray(v, np.int64) for v in (acc, mult, shift)))
    p, n = acc * mult, np.minimum(31 - shift, 62)
    y = sat((p + (np.int64(1) << (n - 1)) - (p < 0)) >> n, INT32_MIN, INT32_MAX)
    return np.where(31 - shift > 62, 0, y)


def multiplier(scale):
    """(mult, shift) of a positive real scale (SPEC.md, 1.2); below 2^-32 they are 0."""
    mantissa, exponent = math.frexp(scale)
    mult = round(mantissa * (1 << 31))
    if mult == 1 << 31:
        mult, exponent = 1 << 30, exponent + 1
    if exponent < -31:
        return 0, 0
    if exponent > 30:
        raise ValueError(f"scale {scale} is beyond 2^30: check the network's weights")
    return mult, exponent
