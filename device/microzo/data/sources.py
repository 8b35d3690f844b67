"""Sample sources: .npy files read by offset, and samples in memory.

A data source is any object with __len__ and read_into(i, buf) -> label (None or negative:
unknown). Indices are 16-bit: at most 65535 samples.
"""

import io

from ..board import files

_MOST = 65535


def _check_count(n, what):
    if not 1 <= n <= _MOST:
        raise ValueError("%s has %d samples, a data source has 1 to %d" % (what, n, _MOST))


class Npy:
    """Header of one .npy file, open for reading. shape: tuple; kind: "u1"...; offset of the
    data."""

    def __init__(self, path):
        self.path = path
        self.file = files.open_for_reading(path)
        head = bytearray(12)
        n = self.file.readinto(head)
        if n < 12 or bytes(head[:6]) != b"\x93NUMPY" or head[6] not in (1, 2):
            raise ValueError(
                "%s is not a .npy file of version 1 or 2, save it with numpy.save" % path
            )
        begin = 10 if head[6] == 1 else 12
        length = head[8] | head[9] << 8
        if begin == 12:
            length |= head[10] << 16 | head[11] << 24
        if length > 65536:
            raise ValueError(
                "%s has a header of %d bytes, save it again with numpy.save" % (path, length)
            )
        self.offset = begin + length
        text = bytearray(length)
        files.seek(self.file, begin)
        files.fill(self.file, text, length, path)
        self._parse(bytes(text).decode())

    def _parse(self, text):
        descr = self._field(text, "descr", "'", "'")
        order, kind = descr[:1], descr[1:]
        if "'fortran_order': False" not in text:
            raise ValueError(
                "%s is in Fortran order, save numpy.ascontiguousarray of it" % self.path
            )
        if order not in "|<" or kind not in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8"):
            raise ValueError("%s holds %s%s, convert it to uint8" % (self.path, order, kind))
        self.kind = kind
        self.item = int(kind[1])
        self.shape = tuple(
            int(n) for n in self._field(text, "shape", "(", ")").split(",") if n.strip()
        )
        self.row = self.item  # bytes of one entry of the first axis
        for n in self.shape[1:]:
            self.row *= n
        count = self.row * (self.shape[0] if self.shape else 1)
        have = files.size(self.path) - self.offset
        if have < count:
            raise OSError(
                "%s is cut (%d of %d bytes of data), copy it again" % (self.path, have, count)
            )

    def _field(self, text, name, begin, end):
        at = text.find("'%s':" % name)
        at = text.find(begin, at + len(name) + 3) if at >= 0 else -1
        stop = text.find(end, at + 1) if at >= 0 else -1
        if stop < 0:
            raise ValueError(
                "%s: cannot read its header, save it again with numpy.save" % self.path
            )
        return text[at + 1 : stop]

    def read(self, i, buf):
        """Fills buf (`row` bytes) with entry i of the first axis."""
        if not 0 <= i < self.shape[0]:
            raise ValueError("%s has entries 0..%d, not %s" % (self.path, self.shape[0] - 1, i))
        files.seek(self.file, self.offset + i * self.row)
        files.fill(self.file, buf, self.row, self.path)


class Dataset:
    """Samples in x (uint8, N x ..., C order) and labels in y (integers, N) or none."""

    def __init__(self, x, y=None):
        self._x = Npy(x)
        if self._x.kind != "u1" or len(self._x.shape) < 2:
            raise ValueError(
                "%s holds %s of shape %s, samples are uint8 of shape N x ..."
                % (x, self._x.kind, self._x.shape)
            )
        self.shape = self._x.shape[1:]
        self._n = self._x.shape[0]
        _check_count(self._n, x)
        self.sample_len = self._x.row
        self._y = None
        if y is not None:
            self._y = Npy(y)
            if len(self._y.shape) != 1 or self._y.shape[0] != self._n:
                raise ValueError(
                    "%s has shape %s, %s needs %d labels" % (y, self._y.shape, x, self._n)
                )
            self._label = bytearray(self._y.item)

    def __len__(self):
        return self._n

    def __repr__(self):
        return "%d samples of shape %s, %s" % (
            self._n,
            self.shape,
            "labelled" if self._y else "no labels",
        )

    labelled = property(lambda self: self._y is not None)

    def check(self, model):
        """ValueError if the samples do not fit the model."""
        _check_sample(self._x.path, self.shape, self.sample_len, model)

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
        if y.item == 1:
            return low[0] if y.kind == "u1" or low[0] < 128 else _MOST
        for j in range(2, y.item):
            if low[j]:
                return _MOST  # negative or huge: no class
        return low[0] | low[1] << 8

    def close(self):
        self._x.file.close()
        if self._y:
            self._y.file.close()


def _check_sample(name, shape, length, model):
    from ..net import words as L

    takes = tuple(model.plan[L.NET_IN_H : L.NET_IN_C + 1])
    # A flat sample has no order; (28, 28) is (28, 28, 1).
    other = len(shape) > 1 and [n for n in shape if n > 1] != [n for n in takes if n > 1]
    if length != model.sample_len or other:
        raise ValueError(
            "%s has samples of %d bytes %s, the model takes %d x %d x %d (rows, columns, channels)"
            % (
                name,
                length,
                shape,
                takes[0],
                takes[1],
                takes[2],
            )
        )


class ArrayData:
    """Samples in memory: x, a buffer of N * sample_len bytes; y, N labels or None."""

    def __init__(self, x, y=None, n=None):
        raw = bytes(x)
        self._n = len(y) if y is not None else n or len(x)
        _check_count(self._n, "the array")
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
        _check_sample("the array", (self.sample_len,), self.sample_len, model)

    def read_into(self, i, buf):
        if not 0 <= i < self._n:
            raise ValueError("the array has samples 0..%d, not %s" % (self._n - 1, i))
        self._x.seek(i * self.sample_len)
        self._x.readinto(buf)
        return self.label(i)

    def label(self, i):
        return self._y[i] if self._y else -1
