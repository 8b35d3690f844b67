"""Roots of the clean correlations of a convolution's channels (SPEC.md, 1.12).

The stage recolor compares them with how the channels vary together now.
"""

import numpy as np

from ..reference import batch, color
from . import file as modelfile

SHRINK = 26  # 256ths, as the stage has it
ROWS = 1 << 16  # positions at most
UNIT = 1 << 14


def store(model, calib_x):
    """Adds ``colors`` to every convolution of a model with statistics, in place.

    ``calib_x``: clean uint8 samples (N, H, W, C). Depthwise layers, the last operator and layers
    of more than 64 channels have none.
    """
    tensors = {model.in_tensor: model.table[calib_x]}
    for op in model.ops:
        x = tensors[op.in1]
        if modelfile.is_colored(op):
            acc = batch.accumulators(op, x).reshape(-1, op.out_c) - op.bias
            op.colors = roots(acc[:: max(1, len(acc) // ROWS)][:ROWS])
        tensors[op.out] = batch.run_op(op, x, tensors.get(op.in2))


def roots(acc):
    """int16 (C(C+1)/2,), lower triangle by rows, of int64 accumulators (n, C)."""
    shift = max(0, int(np.abs(acc).max(initial=1)).bit_length() - 20)
    values = acc >> shift
    sums = values.sum(0).tolist()
    lower = np.tril_indices(values.shape[1])
    products = (values.T @ values)[lower].tolist()
    d, correlations = color.correlations(len(values), SHRINK, sums, products, [1] * len(sums))
    y, _ = color.roots(correlations)
    y[[i for i, deviation in enumerate(d) if not deviation]] = 0  # a channel without spread
    peak = int(np.abs(y).max(initial=1))
    return ((2 * y * UNIT + peak) // (2 * peak))[lower].astype(np.int16)
