"""A factor of the step for every output channel, Q8, with a mean of 256 over the operator.

qas: 1 / s_w[c]^2, quantization-aware scaling (arXiv 2411.05873, inherited from arXiv 2206.15472).
The requantization multipliers are s_x s_w[c] / s_y, so that within an operator their ratios are
those of the weight scales. kernel: |w_c|, so that every channel's kernel moves by the same part of
its length (kernel-wise normalization is named in arXiv 2411.04036; the formula is ours).
"""

from array import array

from ..net import arena as planner
from ..net import words as L

_MOST = 32767  # of a factor: almost 128 times the mean


def factors(model, op, kind):
    """array('H') of the operator's channels, from the model file."""
    values = [_inverse_square(r) for r in _scales(model, op)] if kind == "qas" else [
        _length(model, op, c) for c in range(model.plan[L.op_base(op) + L.OUT_C])
    ]  # fmt: skip
    total = max(1, sum(values))
    return array("H", (min(_MOST, 256 * len(values) * v // total) for v in values))


def _inverse_square(r):
    return (1 << 24) // (r * r)


def _scales(model, op):
    """Weight scales of the channels over the largest of them, Q8, at least 16."""
    plan = model.plan
    o = L.op_base(op)
    found = []
    for c in range(plan[o + L.OUT_C]):
        at = plan[o + L.M_OFF] + 4 * c
        mult = model.blob[at + 3] << 8 | model.blob[at + 2]
        shift = model.blob[plan[o + L.S_OFF] + c]
        found.append(mult << ((shift ^ 128) - 96))  # shift is -31..30
    most = max(1, max(found))
    return [max(16, v * 256 // most) for v in found]


def _length(model, op, c):
    plan = model.plan
    o = L.op_base(op)
    row = planner.row_len(plan, o)
    at = plan[o + L.W_OFF] + c * row
    total = 0
    for i in range(at, at + row):
        w = model.blob[i]
        w = 256 - w if w > 127 else w
        total += w * w
    return root(total)


def root(n):
    """Rounded down."""
    x = n
    y = (x + 1) >> 1
    while y < x:
        x = y
        y = (x + n // x) >> 1
    return x
