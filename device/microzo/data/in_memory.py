"""Samples in RAM as a data source."""

import io

from .. import misfit
from .sources import check_count, check_sample


class ArrayData:
    """Samples in memory: x, a buffer of N * sample_len bytes or an array of N samples; y, N labels
    or None."""

    def __init__(self, x, y=None, n=None):
        if getattr(x, "itemsize", 1) != 1 or isinstance(x, str):
            raise misfit("of_floats", "the array", str(getattr(x, "dtype", type(x))))
        try:
            raw = bytes(x)
            self._y = None if y is None else [int(label) for label in y]
        except (TypeError, ValueError):
            raise misfit("of_floats", "the list", "other things than integers")
        self._n = len(y) if y is not None else n or len(x)
        check_count(self._n, "the array")
        shape = tuple(getattr(x, "shape", ()))
        if len(raw) % self._n or len(shape) > 1 and shape[0] != self._n:
            raise ValueError(
                "%d bytes are no whole number of bytes for %d samples: one label for each sample"
                % (len(raw), self._n)
            )
        self.sample_len = len(raw) // self._n
        self.shape = shape[1:] if len(shape) > 1 else (self.sample_len,)
        self._x = io.BytesIO(raw)

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
        check_sample("the array", (self._n,) + self.shape, self.sample_len, model)

    def read_into(self, i, buf):
        if not 0 <= i < self._n:
            raise ValueError("the array has samples 0..%d, not %s" % (self._n - 1, i))
        self._x.seek(i * self.sample_len)
        self._x.readinto(buf)
        return self.label(i)

    def label(self, i):
        return self._y[i] if self._y else -1
