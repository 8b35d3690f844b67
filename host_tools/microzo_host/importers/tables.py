"""int8 to int8 functions of one value as 256-entry tables, in TFLite's arithmetic."""

import numpy as np

from .. import intforward
from . import scales

INT8 = np.arange(-128, 128)


def requantize(x, y, values=INT8):
    """QUANTIZE between two quantized tensors; ``values``: all values of the input's type."""
    effective = float(x.scales[0]) / float(y.scales[0])
    return _scaled(x, y, values, effective, -128, 127)


def relu(kind, x, y):
    """A standalone RELU, RELU6, RELU_N1_TO_1."""
    low, high = scales.clamp(kind, y.scales[0], int(y.zero_points[0]))
    return _scaled(x, y, INT8, scales.ratio(x.scales[0], y.scales[0]), low, high)


def leaky_relu(alpha, x, y):
    """LEAKY_RELU with slope ``alpha`` below zero."""
    slope = np.float32(x.scales[0]) * np.float32(alpha) / np.float32(y.scales[0])
    above = _scaled(x, y, INT8, scales.ratio(x.scales[0], y.scales[0]), -128, 127)
    below = _scaled(x, y, INT8, float(slope), -128, 127)
    return np.where(INT8 >= x.zero_points[0], above, below)


def _scaled(x, y, values, effective, low, high):
    centred = np.asarray(values, np.int64) - int(x.zero_points[0])
    out = intforward.requant(centred, *scales.multiplier(effective)) + int(y.zero_points[0])
    return np.clip(out, low, high).astype(np.int8)
