"""int8 to int8 functions of one value as 256-entry tables, in TFLite's arithmetic.

Functions come from ``decimal``, whose digits are the same on every machine.
"""

import decimal

import numpy as np

from ..reference.requant import requant
from . import scales

INT8 = np.arange(-128, 128)
PI = decimal.Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781641")
SMALL = decimal.Decimal(10) ** -45
EXACT = decimal.Context(prec=60, traps=[])  # 1 / 0 is infinite, ln(-1) no number
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
    with np.errstate(over="ignore"), decimal.localcontext(EXACT):
        results = [float(function(decimal.Decimal(value))) for value in values.ravel().tolist()]
        return np.array(results).reshape(values.shape).astype(np.float32)


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
    rounded = np.nan_to_num(rounded, nan=-np.inf)
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


def added(a, b, x1, x2, y, clamp, minus=False):
    """ADD or SUB of int8 values ``a`` of tensor ``x1`` and ``b`` of ``x2``."""
    parts = [
        scales.multiplier(e) for e in scales.addition(x1.scales[0], x2.scales[0], y.scales[0])
    ]
    first, second = (
        requant((v.astype(np.int64) - int(x.zero_points[0])) << 20, *part)
        for v, x, part in ((a, x1, parts[0]), (b, x2, parts[1]))
    )
    total = first - second if minus else first + second
    return _clamped(requant(total, *parts[2]), y, clamp)


def multiplied(a, b, x1, x2, y, clamp):
    """MUL of int8 values."""
    product = (a.astype(np.int64) - int(x1.zero_points[0])) * (
        b.astype(np.int64) - int(x2.zero_points[0])
    )
    effective = scales.product(x1.scales[0], x2.scales[0], y.scales[0])
    return _clamped(requant(product, *scales.multiplier(effective)), y, clamp)


def compared(a, x):
    """int8 values as comparisons of two quantizations take them."""
    centred = (a.astype(np.int64) - int(x.zero_points[0])) << 8
    return requant(centred, *scales.multiplier(float(x.scales[0])))


def dequantized(values, x):
    """DEQUANTIZE."""
    return x.scales[0] * (values.astype(np.int32) - int(x.zero_points[0])).astype(np.float32)


def quantized(real, y):
    """QUANTIZE of floats."""
    scaled = (real.astype(np.float32) / y.scales[0]).astype(np.float64)
    rounded = np.sign(scaled) * np.floor(np.abs(scaled) + 0.5)
    return np.clip(np.nan_to_num(rounded) + int(y.zero_points[0]), -128, 127).astype(np.int8)


def _clamped(values, y, clamp):
    return np.clip(values + int(y.zero_points[0]), *clamp).astype(np.int8)


def _series(x, term, power):
    """term + term * -x^2 / (power (power + 1)) + ...: sin(x) from x and 2, cos(x) from 1 and 1."""
    total, square = term, x * x
    while abs(term) > SMALL:
        term = -term * square / (power * (power + 1))
        total, power = total + term, power + 2
    return total


def _sin(x):
    x = x.remainder_near(2 * PI)
    return _series(x, x, 2)


def _cos(x):
    return _series(x.remainder_near(2 * PI), decimal.Decimal(1), 1)


def _erf(x):
    """The error function; beyond 7 it is 1 to 21 digits."""
    x = max(decimal.Decimal(-7), min(x, decimal.Decimal(7)))
    term, total, n = x, x, 0
    while abs(term) > SMALL:
        n += 1
        term = -term * x * x / n
        total += term / (2 * n + 1)
    return 2 * total / PI.sqrt()


def _gelu(u):
    return u * (1 + _erf(u * decimal.Decimal("0.5").sqrt())) / 2


def _gelu_tanh(u):
    return u * (1 + _tanh((2 / PI).sqrt() * (u + decimal.Decimal("0.044715") * u**3))) / 2


def _float_hard_swish(v):
    return v * np.clip(v + np.float32(3), 0, 6) / np.float32(6)


# Functions of float32 values; of int8 ones where the reference fills a table with them.
FLOAT = {
    "EXP": lambda v: _float32(_exp, v),
    "LOG": lambda v: _float32(decimal.Decimal.ln, v),
    "SQRT": lambda v: _float32(decimal.Decimal.sqrt, v),
    "RSQRT": lambda v: _float32(lambda u: 1 / u.sqrt(), v),
    "ELU": lambda v: np.where(v < 0, _float32(lambda u: _exp(u) - 1, np.minimum(v, 0)), v),
    "GELU": lambda v: _float32(_gelu, v),
    "LOGISTIC": lambda v: np.float32(1) / (np.float32(1) + _float32(_exp, -v)),
    "TANH": lambda v: _float32(_tanh, v),
    "ABS": np.abs,
    "NEG": np.negative,
    "SQUARE": np.square,
    "SIN": lambda v: _float32(_sin, v),
    "COS": lambda v: _float32(_cos, v),
    "RELU": lambda v: np.maximum(v, 0),
    "RELU6": lambda v: np.clip(v, 0, 6),
    "RELU_N1_TO_1": lambda v: np.clip(v, -1, 1),
    "HARD_SWISH": _float_hard_swish,
}


def filled(kind, x, y, approximate=False):
    """An int8 function whose table the reference fills in float32: EXP, LOG, ELU, GELU ..."""
    return _curve(x, y, (lambda v: _float32(_gelu_tanh, v)) if approximate else FLOAT[kind])


def prelu_scale(x, y, slopes):
    """Effective scale of PRELU below zero."""
    return float(np.float64(np.float32(x.scales[0] * slopes.scales[0] / y.scales[0])))


def prelu(x, y, slopes, values):
    """(table above zero, [table below zero of each slope])"""
    above = _scaled(x, y, INT8, scales.ratio(x.scales[0], y.scales[0]), -128, 127)
    mult = scales.multiplier(prelu_scale(x, y, slopes))
    centred = INT8.astype(np.int64) - int(x.zero_points[0])
    below = [
        _clamped(
            requant(centred * (int(v) - int(slopes.zero_points[0])), *mult),
            y,
            (-128, 127),
        )
        for v in values
    ]
    return above, below
