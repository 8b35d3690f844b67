"""Samples in .npy files, read by offset.

A data source is any object with __len__ and read_into(i, buf) -> label (None or negative:
unknown). Indices are 16-bit: at most 65535 samples. in_memory.py has samples in RAM.
"""

from .. import forget, misfit
from ..board import files
from ..net import words as L

MOST = 65535


def check_count(n, what):
    """ValueError unless a source may have n samples."""
    if not 1 <= n <= MOST:
        raise misfit("of_count", what, n, MOST)


def check_sample(name, shape, length, model):
    """ValueError unless the samples of an array of that shape, or of that many bytes if they are
    flat, fit the model."""
    takes = tuple(model.plan[L.NET_IN_H : L.NET_IN_C + 1])
    # A flat sample has no order; (28, 28) is (28, 28, 1).
    other = len(shape) > 2 and [n for n in shape[1:] if n > 1] != [n for n in takes if n > 1]
    if length != model.sample_len or other:
        raise misfit("of_shape", name, shape, length, model)


class Rows:
    """Entries of the first axis of a .npy file. shape; kind: "u1"...; row: bytes of an entry."""

    def __init__(self, path):
        from .npy import header

        self.path = path
        self.file = files.open_for_reading(path)
        self.kind, self.shape, self._offset = header(self.file, path)
        forget("data.npy")
        self.row = int(self.kind[1])
        for n in self.shape[1:]:
            self.row *= n

    def read(self, i, buf):
        """Fills buf (`row` bytes) with entry i."""
        if not 0 <= i < self.shape[0]:
            raise ValueError("%s has entries 0..%d, not %s" % (self.path, self.shape[0] - 1, i))
        files.seek(self.file, self._offset + i * self.row)
        files.fill(self.file, buf, self.row, self.path)


class Dataset:
    """Samples in x (uint8, N x ..., C order) and labels in y (integers, N) or none."""

    def __init__(self, x, y=None):
        if not isinstance(x, str) and not hasattr(x, "__fspath__"):
            raise misfit("of_type", x)
        self._x = Rows(x)
        if self._x.kind != "u1" or len(self._x.shape) < 2:
            raise misfit("of_kind", x, self._x.kind, self._x.shape)
        self.shape = self._x.shape[1:]
        self._n = self._x.shape[0]
        check_count(self._n, x)
        self.sample_len = self._x.row
        self._y = None
        if y is not None:
            self._y = Rows(y)
            if len(self._y.shape) != 1 or self._y.shape[0] != self._n:
                raise misfit("of_labels", y, self._y.shape, x, self._n)
            self._label = bytearray(self._y.row)

    def __len__(self):
        return self._n

    def __repr__(self):
        return "%d samples of shape %s, %s" % (
            self._n,
            self.shape,
            "labelled" if self._y else "no labels",
        )

    labelled = property(lambda self: self._y is not None)

    def paths(self):
        """(what it is, name) of the files."""
        names = [("samples", self._x.path)]
        return names if self._y is None else names + [("labels", self._y.path)]

    def check(self, model):
        """ValueError if the samples do not fit the model."""
        check_sample(self._x.path, self._x.shape, self.sample_len, model)

    def read_into(self, i, buf):
        """Fills buf (sample_len bytes) with sample i; its label, or -1."""
        if len(buf) != self.sample_len:
            raise ValueError(
                "a sample of %s has %d bytes, the buffer %d"
                % (self._x.path, self.sample_len, len(buf))
            )
        self._x.read(i, buf)
        return self.label(i)

    def label(self, i):
        """Label of sample i, -1 without labels."""
        y = self._y
        if y is None:
            return -1
        low = self._label
        y.read(i, low)
        if y.row == 1:
            return low[0] if y.kind == "u1" or low[0] < 128 else MOST
        for j in range(2, y.row):
            if low[j]:
                return MOST  # negative or huge: no class
        return low[0] | low[1] << 8

    def close(self):
        self._x.file.close()
        if self._y:
            self._y.file.close()
