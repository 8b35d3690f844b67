"""Rounding, clamping and requantization (SPEC.md, sections 1.2 and 1.3)."""

from struct import pack_into

from .buffers import INT_MAX, bytes_in, check_out, get, integer, require


def sat(v, low, high):
    return low if v < low else high if v > high else v


def rsh(v, n):
    return (v + (1 << (n - 1))) >> n if n > 0 else v << -n


def rdiv(a, b):
    return (2 * a + b) // (2 * b)


def requantized(acc, mult, shift):
    x = sat(acc << shift, -INT_MAX - 1, INT_MAX) if shift > 0 else acc
    x = (x * mult + (1 << 30)) >> 31
    if shift >= 0:
        return x
    mask = (1 << -shift) - 1
    return (x >> -shift) + (1 if (x & mask) > (mask >> 1) + (1 if x < 0 else 0) else 0)


def rounded_once(acc, mult, shift):
    p = acc * mult
    n = 31 - shift
    if n > 62:
        return 0
    return sat((p + (1 << n - 1) - (1 if p < 0 else 0)) >> n, -INT_MAX - 1, INT_MAX)


def renormalized(mult, shift):
    """A multiplier that left [2^30, 2^31) by at most a factor of two, and its shift."""
    if mult >= 1 << 31:
        mult >>= 1
        shift += 1
    elif 0 < mult < 1 << 30:
        mult <<= 1
        shift -= 1
    return mult, sat(shift, -31, 30)


def check_scale(mult, shift, most=30, least=1 << 30):
    integer(shift, -31, most, "a shift")
    good = integer(mult, 0, INT_MAX, "a multiplier") == 0 or mult >= least
    require(good, "a multiplier is too small")


def requant(acc, mult, shift, out):
    check_scale(mult, shift)
    length = bytes_in(acc, 4)
    check_out(out, length)
    for i in range(0, length, 4):
        pack_into("<i", out, i, requantized(get("<i", acc, i), mult, shift))
    return 0
