"""int8 to int8 functions of one value as 256-entry tables, in TFLite's arithmetic.

exp and tanh come from ``decimal``, whose digits are the same on every machine.
"""

import decimal

import numpy as np

from ..reference.requant import requant
from . import scales

INT8 = np.arange(-128, 128)
LARGE = decimal.Decimal(100)  # beyond it exp is infinite in float32, tanh 1


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


def logistic(x, y):
    """LOGISTIC, in float32 as the reference does."""
    return _curve(x, y, lambda v: np.float32(1) / (np.float32(1) + _float32(_exp, -v)))


def tanh(x, y):
    """TANH, in float32 as the reference does."""
    return _curve(x, y, lambda v: _float32(_tanh, v))


def hard_swish(x, y):
    """HARD_SWISH, in 16-bit fixed point: x * relu6(x + 3) / 6."""
    fine = np.float32(1 / 128) * x.scales[0]
    gain, gain_shift = _short_multiplier(fine / y.scales[0])
    slope, slope_shift = _short_multiplier(fine / np.float32(3 / 32768))
    value = (INT8 - int(x.zero_points[0])).astype(np.int64) << 7
    scaled = _high(value, gain)
    ramp = _short(value << max(slope_shift - 1, 0)) if slope_shift > 0 else value
    ramp = _high(ramp, slope)
    ramp = _short(ramp << 1) if slope_shift > 0 else _rounded_shift(ramp, -slope_shift)
    ramp = (ramp + (1 << 15)) >> 1
    product = ramp * scaled
    product = np.sign(product) * (np.abs(product) >> 15)  # this one product is cut off
    out = _rounded_shift(_short(product), -gain_shift) + int(y.zero_points[0])
    return np.clip(out, -128, 127).astype(np.int8)


CURVES = {"LOGISTIC": logistic, "TANH": tanh, "HARD_SWISH": hard_swish}


def _float32(function, values):
    """The float32 of a function of float32 values."""
    with np.errstate(over="ignore"), decimal.localcontext(decimal.Context(prec=40)):
        results = [float(function(decimal.Decimal(value))) for value in values.tolist()]
        return np.array(results).astype(np.float32)


def _exp(value):
    return min(value, LARGE).exp()


def _tanh(value):
    square = (2 * max(-LARGE, min(value, LARGE))).exp()
    return (square - 1) / (square + 1)


def _curve(x, y, function):
    """A table filled in float32."""
    real = x.scales[0] * (INT8 - x.zero_points[0]).astype(np.float32)
    inverse = np.float32(1) / y.scales[0]
    scaled = function(real) * inverse
    rounded = np.sign(scaled) * np.floor(np.abs(scaled.astype(np.float64)) + 0.5)
    return np.clip(rounded + int(y.zero_points[0]), -128, 127).astype(np.int8)


def _short_multiplier(effective):
    """A multiplier's upper 16 bits, and its shift."""
    mult, shift = scales.multiplier(float(effective))
    return min((mult + (1 << 15)) >> 16, 32767), shift


def _short(values):
    return np.clip(values, -32768, 32767)


def _high(a, b):
    """Upper half of 2ab, rounded half up, saturated to int16."""
    return _short((a * b + (1 << 14)) >> 15)


def _rounded_shift(values, right):
    """Right shift rounding half away from zero."""
    mask = (1 << right) - 1
    return (values >> right) + ((values & mask) > (mask >> 1) + (values < 0))


def _scaled(x, y, values, effective, low, high):
    centred = np.asarray(values, np.int64) - int(x.zero_points[0])
    out = requant(centred, *scales.multiplier(effective)) + int(y.zero_points[0])
    return np.clip(out, low, high).astype(np.int8)
