"""Samples in RAM as a data source."""

import io

from .. import misfit
from ..net import arrays
from .sources import check_count, check_sample


class _Key:
    def __getitem__(self, key):
        return key


_WHOLE = _Key()[:]  # buf[:] would make a slice for every sample


class ArrayData:
    """Samples in memory.

    x: an array of N samples, a buffer of N * sample_len bytes, or a list of N arrays; arrays of
    uint8 are used where they lie, not copied. Floats and integers of 16 bits become raw bytes,
    once, by the scale of a model: `model`, else the one that is trained or evaluated. A model that
    is given here lets x go. y: N labels or None. n: N, where neither shape nor labels tell.
    """

    def __init__(self, x, y=None, n=None, model=None):
        if isinstance(x, str):
            raise misfit("of_floats", "the array", "a text")
        many = isinstance(x, (list, tuple)) and len(x) > 0 and arrays.is_array(x[0])
        if not many and not arrays.is_array(x):
            x = _listed(x)
        self._y = None if y is None else _labels(y)
        one = x[0] if many else x
        shape = arrays.shape_of(one)
        if many:
            shape = (len(x),) + shape
        self._flat = len(shape) == 1
        self._n = len(y) if y is not None else n or shape[0]
        check_count(self._n, "the array")
        count = arrays.size(shape)
        if count % self._n or len(shape) > 1 and shape[0] != self._n:
            raise ValueError(
                "%d bytes are no whole number of bytes for %d samples: one label for each sample"
                % (count, self._n)
            )
        self.sample_len = count // self._n
        self.shape = shape[1:] if len(shape) > 1 else (self.sample_len,)
        self._kind = arrays.kind(one)
        self._stream = self._rows = self._values = self._encoder = None
        if many and [1 for row in x if self._unlike(row)]:
            raise ValueError("the samples of the list differ in shape or kind: give all alike")
        if arrays.values(self._kind):
            self._values = x
            if model is not None:
                self.check(model)
                self._values = None
        elif self._kind != "uint8":
            raise misfit("of_dtype", "the array", self._kind)
        elif many:
            self._rows = [arrays.flat(row) for row in x]
        elif type(x) is bytes:
            self._stream = io.BytesIO(x)  # reads without a view for each sample
        else:
            self._rows = self._cut(arrays.flat(x))

    def _unlike(self, row):
        return (
            not arrays.is_array(row)
            or arrays.shape_of(row) != self.shape
            or arrays.kind(row) != self._kind
        )

    def _cut(self, raw):
        raw = memoryview(raw)
        size = self.sample_len
        return [raw[i * size : (i + 1) * size] for i in range(self._n)]

    def __len__(self):
        return self._n

    def __repr__(self):
        return "%d samples of %d bytes, %s" % (
            self._n,
            self.sample_len,
            "labelled" if self._y else "no labels",
        )

    labelled = property(lambda self: self._y is not None)

    def check(self, model):
        """ValueError if the samples do not fit the model. Values become its raw bytes."""
        check_sample("the array", (self._n,) + self.shape, self.sample_len, model)
        if self._values is not None and self._encoder is not model.encoder():
            self._encode(model)

    def _encode(self, model):
        self._rows = None  # its memory first
        rows = self._cut(bytearray(self._n * self.sample_len))
        encoder = model.encoder()
        x = self._values
        size = self.sample_len
        clipped = 0
        for i in range(self._n):
            one = x[i * size : (i + 1) * size] if self._flat else x[i]
            clipped += encoder.encode(one, rows[i])
        arrays.check_range(model, clipped, self._n * size)
        self._rows = rows
        self._encoder = encoder

    def read_into(self, i, buf):
        if not 0 <= i < self._n:
            raise ValueError("the array has samples 0..%d, not %s" % (self._n - 1, i))
        if self._stream:
            self._stream.seek(i * self.sample_len)
            self._stream.readinto(buf)
        elif self._rows is None:
            raise misfit("of_no_model", self._kind)
        elif len(buf) != self.sample_len:
            raise ValueError(
                "a sample of the array has %d bytes, the buffer %d" % (self.sample_len, len(buf))
            )
        else:
            buf[_WHOLE] = self._rows[i]
        return self.label(i)

    def label(self, i):
        return self._y[i] if self._y else -1


def _listed(x):
    """bytes of a list of integers; ValueError for other things."""
    try:
        return bytes(x)
    except (TypeError, ValueError):
        raise misfit("of_floats", "the list", "other things than integers")


def _labels(y):
    try:
        labels = [int(label) for label in y]
        if [1 for i in range(len(labels)) if labels[i] != y[i]]:
            raise ValueError
    except (TypeError, ValueError):
        raise misfit("of_floats", "the list of labels", "other things than integers")
    return labels
