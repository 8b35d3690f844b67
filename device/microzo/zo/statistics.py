"""Sums of squares that stay in 64 bits."""

from ..board.integers import bit_length


def sum_shift(bound, n):
    """Smallest s for which n squares of sums below `bound`, shifted right by s, stay below 2^62
    (SPEC.md, section 6).

    Counts bits, because the squares would leave the small integers of a board.
    """
    bits = 2 * bit_length(bound) + bit_length(n)
    return max(0, (bits - 61) >> 1)
