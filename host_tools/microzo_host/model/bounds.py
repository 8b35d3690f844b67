"""Bounds of sums and sizes of one operator (SPEC.md, 1.2 and 1.4)."""

import numpy as np

from microzo.net import words as L

LIMIT = 1 << 30  # accumulators stay below this, see SPEC.md 1.2


def bound_of_weights(op):
    """Largest |accumulator| that any trained weights can give, without the bias, for f = 0."""
    return (127 + op.eps_w) * max(127 - op.in_zp, op.in_zp + 128) * op.row


def fraction_bits(op):
    """F of SPEC.md 1.4, or -1 if not even F = 0 is safe.

    The largest f <= 8 that keeps every accumulator below 2^30 and every
    perturbed weight below 2^15.
    """
    if op.abs_sum:
        widest = op.abs_sum * max(127 - op.in_zp, op.in_zp + 128) + op.b_max
        return 0 if widest < LIMIT else -1
    for f in range(8, -1, -1):
        widest = bound_of_weights(op) + op.b_max
        if widest << f < LIMIT and 127 + op.eps_w << f < 1 << 15:
            return f
    return -1


def abs_sum(op):
    """The largest sum of |weights| of a channel."""
    return int(np.abs(op.weight.reshape(op.out_c, -1).astype(np.int64)).sum(1).max())


def constant_size(op):
    """Values of the table of a LUT or of the constant operand of an ADD or MUL; 0 for others."""
    if op.kind == L.LUT:
        return 256
    if op.kind not in (L.ADD, L.MUL) or op.in2 != -1:
        return 0
    positions = 1 if op.flags & L.SPREAD_HW else op.in_h * op.in_w
    return positions * (1 if op.flags & L.SPREAD_C else op.in_c)
