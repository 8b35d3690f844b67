"""Multipliers for outputs that are rounded once (ROUND_ONCE), SPEC.md 1.2.

LiteRT's dense layer rounds acc * s in double, s = s_x * s_w / s_y. A 31-bit multiplier can
differ from s only where acc * s lies next to a half. All those places that the layer's own
weights can reach are looked at; where an output would change at another accumulator, the
multiplier moves by a few units, or the bias by a few too: a bias of many bits is where a
multiplier's last bit shows.
"""

import numpy as np

from . import dead, scales

MOVES = sorted(range(-8, 9), key=abs)


def fit(op, effective):
    """Choose mults and, where it must be, biases of a dense layer.

    Returns how many accumulators at such places still give an output that is off by one.
    """
    wrong = 0
    low, high = op.act_min - op.out_zp, op.act_max - op.out_zp
    least, most = dead.reach(op)
    op.bias = op.bias.copy()
    for c in range(op.out_c):
        acc = _thresholds(effective[c], low, high, int(least[c]), int(most[c]))
        exact = _half_away(acc * effective[c])
        move = _search(acc, exact, int(op.mults[c]), int(op.shifts[c]), low, high)
        if move is None:
            wrong += _wrong(acc, exact, int(op.mults[c]), int(op.shifts[c]), low, high)
        else:
            op.mults[c] += move[0]
            op.bias[c] += move[1]
    return wrong


def _search(acc, exact, mult, shift, low, high):
    """(change of the multiplier, change of the bias) with all outputs right, or None."""
    moves = [(0, 0)] + [(m, 0) for m in MOVES[1:]] + [(m, b) for b in MOVES[1:] for m in MOVES]
    for m, b in moves:
        if m == 0 or 1 << 30 <= mult + m < 1 << 31:
            if not _wrong(acc + b, exact, mult + m, shift, low, high):
                return m, b
    return None


def _wrong(acc, exact, mult, shift, low, high):
    got = np.clip(scales.requant_once(acc, mult, shift), low, high)
    return int((got != np.clip(exact, low, high)).sum())


def _thresholds(effective, low, high, least, most):
    """int64 (n,): the reachable accumulators on both sides of every change of the output."""
    first, last = (int(np.clip(_half_away(a * effective), low, high)) for a in (least, most))
    steps = np.arange(first, last + 1) + 0.5
    around = np.floor(np.concatenate([[first - 0.5], steps]) / effective)[:, None]
    acc = np.clip(around + np.arange(-1, 3), least, most).astype(np.int64).reshape(-1)
    return np.unique(np.concatenate([acc, [least, most]]))


def _half_away(value):
    return np.sign(value) * np.floor(np.abs(np.float64(value)) + 0.5)
