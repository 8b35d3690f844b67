"""A factor of the step for every output channel, Q8, with a mean of 256 over the operator.

qas: 1 / s_w[c]^2, quantization-aware scaling (arXiv 2411.05873, inherited from arXiv 2206.15472).
The requantization multipliers are s_x s_w[c] / s_y, so that within an operator their ratios are
those of the weight scales. kernel: |w_c|, so that every channel's kernel moves by the same part of
its length (kernel-wise normalization is named in arXiv 2411.04036; the formula is ours).
"""

from array import array

from ..board.integers import int8, root
from ..net import arena as planner
from ..net import words as L

_MOST = 32767  # of a factor: almost 128 times the mean


def factors(model, op, kind):
    """array('H') of the operator's channels, from the model file."""
    if kind == "qas":
        values = [(1 << 24) // (r * r) for r in _scales(model, op)]
    else:
        channels = model.plan[L.op_base(op) + L.OUT_C]
        values = [_length(model, op, c) for c in range(channels)]
    total = max(1, sum(values))
    return array("H", (min(_MOST, 256 * len(values) * v // total) for v in values))


def _scales(model, op):
    """Weight scales of the channels over the largest of them, Q8, at least 16."""
    plan = model.plan
    o = L.op_base(op)
    scales = []
    for c in range(plan[o + L.OUT_C]):
        at = plan[o + L.M_OFF] + 4 * c
        mult = model.blob[at + 3] << 8 | model.blob[at + 2]
        shift = model.blob[plan[o + L.S_OFF] + c]
        scales.append(mult << ((shift ^ 128) - 96))  # shift is -31..30
    most = max(1, max(scales))
    return [max(16, v * 256 // most) for v in scales]


def _length(model, op, c):
    plan = model.plan
    o = L.op_base(op)
    row = planner.row_len(plan, o)
    at = plan[o + L.W_OFF] + c * row
    return root(sum(int8(model.blob[i]) ** 2 for i in range(at, at + row)))
