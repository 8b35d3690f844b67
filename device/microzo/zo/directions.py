"""Directions as sums of sign streams: what a seed stands for, beyond one sign a value.

sign: one stream, a value of +-1. gauss: the sum of 16 streams over 4, int8-quantized (halves,
|z| <= 4, a standard deviation of 1), binomial instead of exactly normal. As `update` of the
kernels takes sums of streams, both cost no code in C and no loop over the weights.
"""

from ..data import order
from .settings import GAUSS

_DOWN = 2  # log2 of that divisor


class Directions:
    """fill(pairs, at, seed, coef) -> how many pairs were written; they stand for
    coef * 2^down * direction."""

    def __init__(self, k, gauss):
        self._k = k
        self.each = GAUSS if gauss else 1
        self.down = _DOWN if gauss else 0

    def fill(self, pairs, at, seed, coef):
        if self.each == 1:
            pairs[2 * at] = seed
            pairs[2 * at + 1] = coef
            return 1
        for j in range(GAUSS):
            pairs[2 * (at + j)] = self._k.derive(seed, order.GAUSS, j)
            pairs[2 * (at + j) + 1] = coef
        return GAUSS
