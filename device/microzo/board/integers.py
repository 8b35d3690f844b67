"""Integers on every floor: signed bytes, little-endian words in bytes, logarithms and roots.

Nothing here allocates on the heap while values and results stay below 30 bits.
"""


def int8(byte):
    """The signed value of a byte, which a buffer may give signed or unsigned."""
    return (byte & 255 ^ 128) - 128


def int16(buf, at):
    """The signed value of two bytes of a buffer of bytes."""
    return buf[at] & 255 | int8(buf[at + 1]) << 8


def int32(buf, at):
    """The signed value of four bytes of a buffer of bytes."""
    return buf[at] & 255 | (buf[at + 1] & 255) << 8 | int16(buf, at + 2) << 16


def bit_length(n):
    """Bits of n >= 0; 0 for 0."""
    bits = 0
    while n:
        n >>= 1
        bits += 1
    return bits


def log2(n):
    """Logarithm of n, rounded down; 0 below 1."""
    return bit_length(n) - 1 if n > 0 else 0


def log2_up(n):
    """Logarithm of n >= 1, rounded up."""
    return bit_length(n - 1)


def root(n):
    """Square root of n >= 0, rounded down: Newton's steps from above."""
    if not n:
        return 0
    x = 1 << (bit_length(n) + 1 >> 1)
    while n // x < x:
        x = x + n // x >> 1
    return x


def sum_shift(bound, n):
    """Smallest s for which n squares of sums below `bound`, shifted right by s, stay below 2^62
    (SPEC.md, section 6). Counts bits, because the squares would leave the small integers of a
    board."""
    return max(0, (2 * bit_length(bound) + bit_length(n) - 61) >> 1)
