"""Arrays of samples as the raw bytes of a model: order, scale, zero point, and what was clipped.

The arithmetic is that of device/microzo/net/encode.py, so that a board encodes alike.
"""

import itertools
import json
import math

import numpy as np

MOST = 1 << 18


def multiplier(scale):
    """(mult, exp): 1 / scale is mult / 2^22 * 2^exp, mult of 22 bits."""
    mantissa, exponent = math.frexp(1 / scale)
    mult = round(mantissa * (1 << 22))
    return (mult >> 1, exponent + 1) if mult == 1 << 22 else (mult, exponent)


def described(model):
    """The entry `input` of the metadata of a model whose input scale is known."""
    scale = model.scales[model.in_tensor]
    mult, exp = multiplier(scale)
    return {"scale": scale, "zero_point": model.in_zp, "mult": mult, "exp": exp, "order": "h w c"}


def axes(order, ours, theirs):
    """Axes by which a foreign sample of shape ``theirs`` becomes ours, None if it lies so already.

    ``order``: value number i of ours is number order[i] of the foreign one.
    """
    order = np.asarray(order).reshape(-1)
    if np.array_equal(order, np.arange(len(order))):
        return None
    numbers = np.arange(len(order)).reshape(theirs)
    for permutation in itertools.permutations(range(len(theirs))):
        if np.array_equal(numbers.transpose(permutation).reshape(-1), order):
            return list(permutation)
    return None


class Encoded:
    """``raw``: uint8 (N, h, w, c); ``clipped`` of ``values`` lay outside of the model's range."""

    def __init__(self, raw, clipped, values):
        self.raw, self.clipped, self.values = raw, clipped, values


def encode(model, values, what="the samples"):
    """Raw samples of an array: uint8 (raw already), int8 (quantized) or real numbers."""
    values = np.asarray(values)
    if values.dtype.kind not in "uif":
        raise ValueError(f"{what} are {values.dtype}: give numbers")
    values = ordered(model, values, what)
    if values.dtype == np.uint8:
        return Encoded(values, 0, values.size)
    clipped = 0
    if values.dtype != np.int8:
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError(f"{what} are not all finite numbers: leave those out")
        values, clipped = _quantized(model, values)
    return Encoded(inverse(model.table)[values.astype(np.int64) + 128], clipped, values.size)


def ordered(model, values, what="the samples"):
    """An array (number, ...) as (number, h, w, c), by its shape alone: never by its size."""
    ours = model.in_h, model.in_w, model.in_c
    entry = json.loads(model.metadata.get("input", "{}"))
    theirs = tuple(entry.get("file_shape", ours))
    if values.ndim < 1 or not len(values):
        raise ValueError(f"{what} are none: give an array (number, {_text(ours)})")
    if _sides(values.shape[1:]) == _sides(ours):
        return values.reshape(-1, *ours)
    if _sides(values.shape[1:]) == _sides(theirs) and "file_axes" in entry:
        permutation = [0, *(a + 1 for a in entry["file_axes"])]
        moved = values.reshape(-1, *theirs).transpose(permutation)
        return np.ascontiguousarray(moved).reshape(-1, *ours)
    also = f", or {_text(theirs)} as its file did" if theirs != ours else ""
    same = sorted(_sides(values.shape[1:])) == sorted(_sides(ours))
    cure = "reorder the axes by numpy.transpose" if same else "give samples of that shape"
    raise ValueError(
        f"{what} have shape {tuple(values.shape[1:])}, the model takes {_text(ours)} (rows, "
        f"columns, channels){also}: {cure}"
    )


def inverse(table):
    """uint8[256]: the first byte that the table maps nearest to each int8."""
    distance = np.abs(table.astype(np.int64)[None, :] - np.arange(-128, 128)[:, None])
    return distance.argmin(1).astype(np.uint8)


def _quantized(model, values):
    """(int8 values, how many were clipped)"""
    scale = model.scales[model.in_tensor]
    if not scale:
        raise ValueError("the model does not tell the scale of its input: import it again")
    mult, exp = multiplier(scale)
    real = values.astype(np.float32).astype(np.float64) * 2.0 ** (9 + exp)
    n = np.trunc(np.clip(real, -MOST, MOST)).astype(np.int64)
    q = ((n * (mult >> 11) + (n * (mult & 2047) >> 11) + (1 << 19)) >> 20) + model.in_zp
    return np.clip(q, -128, 127).astype(np.int8), int(((q < -128) | (q > 127)).sum())


def _sides(shape):
    return tuple(n for n in shape if n > 1)


def _text(shape):
    return " x ".join(map(str, shape))
