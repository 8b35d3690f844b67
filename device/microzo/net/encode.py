"""Sensor values as the raw bytes that a model takes; the host's `microzo encode` gives the same.

A value v becomes n = int(v * 2^f), f = 9 + exp, then q = (n * mult + 2^30 >> 31) + zero point in
two products of less than 30 bits, where mult / 2^22 * 2^exp is 1 / scale. q is clipped to int8;
its byte is the first one that the input table maps nearest to it.
"""

from . import header
from . import words as L

_MOST = 1 << 18  # of n: beyond it every value is clipped


class Encoder:
    """Made once for a model: it reads the file's header."""

    def __init__(self, model):
        known = header.entry(model.path, "input")
        if not known or "mult" not in known:
            raise ValueError(
                "%s does not tell the scale of its input, import or quantize it again" % model.path
            )
        self._factor = 2.0 ** (9 + known["exp"])
        self._scale = known["scale"]
        self._high = known["mult"] >> 11
        self._low = known["mult"] & 2047
        self._zero = model.plan[L.NET_IN_ZP]
        self._count = model.sample_len
        at = model.plan[L.TABLE_OFF]
        self._bytes = _inverse(memoryview(model.blob)[at : at + 256])

    def encode(self, values, out):
        """Fills out; returns how many values lay outside of what the model knows."""
        self._at = 0
        self._clipped = 0
        self._fill(values, out)
        if self._at != self._count:
            raise ValueError(
                "the model takes %d values a sample, not %d" % (self._count, self._at)
            )
        return self._clipped

    def quantized(self, values, out):
        """The same of int8 values, which have the scale and the zero point already."""
        self._at = 0
        self._copy(values, out)
        return 0

    def _copy(self, values, out):
        for v in values:
            if _nested(v):
                self._copy(v, out)
            else:
                out[self._at] = self._bytes[int(v) + 128]
                self._at += 1

    def range(self):
        """(lowest, highest) value that an int8 input stands for."""
        return tuple((q - self._zero) * self._scale for q in (-128, 127))

    def _fill(self, values, out):
        for v in values:
            if _nested(v):
                self._fill(v, out)
                continue
            n = float(v) * self._factor  # numbers of NumPy have ranges of their own
            n = int(n) if -_MOST < n < _MOST else _MOST if n > 0 else -_MOST
            q = ((n * self._high + (n * self._low >> 11) + (1 << 19)) >> 20) + self._zero
            if q < -128 or q > 127:
                q = -128 if q < 0 else 127
                self._clipped += 1
            if self._at < self._count:
                out[self._at] = self._bytes[q + 128]
            self._at += 1


def _nested(v):
    """Whether it is a row of values; MicroPython's lists show no __len__, numbers of NumPy are no
    float."""
    return not isinstance(v, (int, float)) and (
        hasattr(v, "__len__") or not hasattr(v, "__float__")
    )


def _inverse(table):
    """bytearray(256): the first byte that the input table maps nearest to each int8."""
    inverse = bytearray(256)
    places = [0]
    for r in range(1, 256):
        if table[r] != table[r - 1]:
            places.append(r)
    at = 0
    for q in range(-128, 128):
        while at + 1 < len(places) and _far(table, places[at + 1], q) < _far(table, places[at], q):
            at += 1
        inverse[q + 128] = places[at]
    return inverse


def _far(table, r, q):
    v = table[r]
    return abs((v - 256 if v > 127 else v) - q)
