"""Channels whose output is the same for every input, with biases that dwarf all others.

Converters give a channel whose weights are all zero a scale of next to nothing, and a bias
of up to 2^30 in its units. Such a bias leaves no room for the sums of the other channels.
What the channel puts out is what counts: it gets the scale of the others, no weights, and
the bias that gives the same output.
"""

import numpy as np

from microzo.net import words as L

from ..reference.requant import once, requant

LARGE = 1 << 20  # of a bias


def settle(op):
    """Give such channels of an operator a small bias; returns by what its accumulator changed.

    float64 (channels,): old bias / new bias of a channel that was changed, else 1.
    """
    ratio = np.ones(op.out_c)
    if np.abs(op.bias.astype(np.int64)).max(initial=0) < LARGE:
        return ratio
    low, high = reach(op)
    outputs = [_output(op, acc, op.mults, op.shifts) for acc in (low, high)]
    dead = (outputs[0] == outputs[1]) & (np.abs(op.bias.astype(np.int64)) >= LARGE)
    dead &= (low >= -(1 << 31)) & (high < 1 << 31)  # else LiteRT's own sums overflow
    if dead.any():
        op.weight, op.bias = op.weight.copy(), op.bias.copy()
    alive = np.flatnonzero(~dead & (op.mults > 0))
    for c in np.flatnonzero(dead):
        target = int(outputs[0][c]) - op.out_zp
        mult, shift, bias = _small(op, alive, target)
        ratio[c] = op.bias[c] / bias if bias else 0.0
        op.weight[c] = 0
        op.mults[c], op.shifts[c], op.bias[c] = mult, shift, bias
    return ratio


def reach(op):
    """(least, largest) accumulator of each channel over all int8 inputs, int64."""
    weights = op.weight.reshape(op.out_c, -1).astype(np.int64)
    above, below = np.maximum(weights, 0).sum(1), np.minimum(weights, 0).sum(1)
    top, bottom = 127 - op.in_zp, -128 - op.in_zp
    bias = op.bias.astype(np.int64)
    return bias + above * bottom + below * top, bias + above * top + below * bottom


def _small(op, alive, target):
    """(mult, shift, bias) that put out ``target``, by the scale of a live channel if it can."""
    if len(alive):
        sizes = np.ldexp(op.mults[alive].astype(np.float64), op.shifts[alive].astype(int))
        c = alive[np.argsort(sizes)[len(alive) // 2]]
        mult, shift = int(op.mults[c]), int(op.shifts[c])
        guess = round(target / (mult * 2.0 ** (shift - 31)))
        got = _scaled(op, np.array([guess]), mult, shift)
        if abs(guess) < LARGE and int(got[0]) == target:
            return mult, shift, guess
    return 1 << 30, 1, target


def _scaled(op, acc, mults, shifts):
    scaled = once if op.flags & L.ROUND_ONCE else requant
    return scaled(np.asarray(acc, np.int64), mults, shifts)


def _output(op, acc, mults, shifts):
    return np.clip(_scaled(op, acc, mults, shifts) + op.out_zp, op.act_min, op.act_max)
