"""A .npy file that grows, safe against power cuts.

The entries behind the header count by the length of the file: each is on the medium before the
next one comes. The number in the header is written, in place and of a fixed width, when the file
is closed: littlefs copies a file anew from the byte that changes. Opening it again repairs both.
"""

from .. import forget
from ..board import files

_HEADER = 128
_WIDTH = 10  # of the number of entries


class Appender:
    """A file of entries of `shape` (() for a label) and kind "u1" or "u2"; it is made, or goes
    on where it ends. len: its whole entries. ValueError for a file of other entries."""

    def __init__(self, path, kind, shape):
        self.path = path
        self._kind = kind
        self._shape = tuple(shape)
        self._row = int(kind[1])
        for n in shape:
            self._row *= n
        self._begin = _HEADER
        if files.exists(path) and files.size(path) >= _HEADER:
            self._count = self._check()
            self._file = open(path, "r+b")
        else:  # the header came on the medium at once or not at all
            self._count = 0
            self._file = open(path, "w+b")
            self._file.write(self._header())
            self._file.flush()

    def _check(self):
        from . import npy

        with open(self.path, "rb") as f:
            kind, shape, self._begin = npy.header(f, self.path, False)
        forget("data.npy")
        if kind != self._kind or shape[1:] != self._shape or self._begin != _HEADER:
            raise ValueError(
                "%s holds other entries (%s, %s), or was not made by a Recorder: take another name"
                % (self.path, kind, shape[1:])
            )
        return (files.size(self.path) - _HEADER) // self._row

    def __len__(self):
        return self._count

    def cut(self, count):
        """Only the first `count` entries count: the others have no partner."""
        self._count = min(count, self._count)

    def append(self, entry):
        """An entry of bytes; it is on the medium when this returns."""
        f = self._file
        files.seek(f, _HEADER + self._count * self._row)
        try:
            written = f.write(entry)
            f.flush()
        except OSError as e:
            if e.args[0] != 28:
                raise
            written = 0
        if written != self._row:
            raise OSError("no room for %s in its file system, delete files there" % self.path)
        self._count += 1

    def write_count(self):
        f = self._file
        f.seek(0)
        f.write(self._header())
        f.flush()

    def _header(self):
        sizes = "".join(" %d," % n for n in self._shape)
        order = "|" if self._kind[1] == "1" else "<"
        count = str(self._count)
        count += " " * (_WIDTH - len(count))
        text = "{'descr': '%s%s', 'fortran_order': False, 'shape': (%s,%s), }" % (
            order, self._kind, count, sizes[:-1],
        )  # fmt: skip
        size = _HEADER - 10
        text += " " * (size - 1 - len(text)) + "\n"
        return b"\x93NUMPY\x01\x00" + bytes((size, 0)) + text.encode()

    def close(self):
        if self._file is not None:
            self.write_count()
            self._file.close()
            self._file = None
