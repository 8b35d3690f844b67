"""Integer multipliers of real scales, as TFLite's reference kernels form them (SPEC.md 1.2).

Most operators work in double from the float32 scales of the file; MUL and a
standalone ReLU work in float32, and a dense layer rounds only once. Bit
equality needs the same.
"""

import numpy as np


def multipliers(effective):
    """int32 mult and int8 shift arrays of positive real scales; below 2^-32 they are 0."""
    mantissa, exponent = np.frexp(np.asarray(effective, np.float64))
    mult = np.floor(mantissa * (1 << 31) + 0.5).astype(np.int64)
    full = mult == 1 << 31
    mult, exponent = np.where(full, 1 << 30, mult), exponent + full
    if exponent.max() > 30:
        raise ValueError("a scale is beyond 2^30")
    gone = exponent < -31
    return (
        np.where(gone, 0, mult).astype(np.int32),
        np.where(gone, 0, exponent).astype(np.int8),
    )


def multiplier(effective):
    """(mult, shift) of one scale, as Python ints."""
    mult, shift = multipliers([effective])
    return int(mult[0]), int(shift[0])


def channels(x_scale, w_scales, y_scale):
    """Effective scales (float64) of a convolution or a dense layer."""
    return np.float64(x_scale) * w_scales.astype(np.float64) / np.float64(y_scale)


def requant_once(acc, mult, shift):
    """acc * mult * 2^(shift - 31), rounded once, half away from zero (SPEC.md 1.2)."""
    right = 31 - np.asarray(shift, np.int64)
    p = acc * np.asarray(mult, np.int64)
    return (p + (np.int64(1) << (right - 1)) - (p < 0)) >> right


def product(first, second, y_scale):
    """Effective scale of MUL: float32 throughout."""
    return float(np.float32(first) * np.float32(second) / np.float32(y_scale))


def ratio(x_scale, y_scale):
    """Effective scale of a standalone ReLU: a float32 quotient."""
    return float(np.float32(x_scale) / np.float32(y_scale))


def addition(first, second, y_scale):
    """The three effective scales of ADD: both inputs to a common one, the sum to the output."""
    top = 2 * max(float(first), float(second))
    return float(first) / top, float(second) / top, top / ((1 << 20) * float(y_scale))


def mean(x_scale, y_scale, count):
    """(mult, shift) of MEAN over ``count`` values: 1 / count is put into the multiplier.

    The quotient is cut off, not rounded, and not normalized again, so that
    mult may lie between 2^29 and 2^31.
    """
    mult, shift = multiplier(float(x_scale) / float(y_scale))
    extra = min(count.bit_length() - 1, 32, 31 + shift)
    return (mult << extra) // count, shift - extra


def clamp(activation, scale, zero_point):
    """(act_min, act_max) of a fused activation."""

    def quantized(real):
        return zero_point + int(_half_away(np.float32(real) / np.float32(scale)))

    low, high = {
        "NONE": (-128, 127),
        "RELU": (max(-128, quantized(0)), 127),
        "RELU6": (max(-128, quantized(0)), min(127, quantized(6))),
        "RELU_N1_TO_1": (max(-128, quantized(-1)), min(127, quantized(1))),
    }[activation]
    return low, high


def _half_away(value):
    return np.sign(value) * np.floor(np.abs(np.float64(value)) + 0.5)
