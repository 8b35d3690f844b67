"""Samples in RAM as a data source."""

import io

from .sources import check_count, check_sample


class ArrayData:
    """Samples in memory: x, a buffer of N * sample_len bytes; y, N labels or None."""

    def __init__(self, x, y=None, n=None):
        raw = bytes(x)
        self._n = len(y) if y is not None else n or len(x)
        check_count(self._n, "the array")
        if len(raw) % self._n:
            raise ValueError(
                "%d bytes are no whole number of bytes for %d samples" % (len(raw), self._n)
            )
        self.sample_len = len(raw) // self._n
        self._x = io.BytesIO(raw)
        self._y = None if y is None else [int(label) for label in y]

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
        check_sample("the array", (self.sample_len,), self.sample_len, model)

    def read_into(self, i, buf):
        if not 0 <= i < self._n:
            raise ValueError("the array has samples 0..%d, not %s" % (self._n - 1, i))
        self._x.seek(i * self.sample_len)
        self._x.readinto(buf)
        return self.label(i)

    def label(self, i):
        return self._y[i] if self._y else -1
