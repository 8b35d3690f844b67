"""Puts samples before a given operator: from a cache of prefix activations, as far as it
reaches, else computed."""

import io

from ..board import files, memory
from ..net import words as L

_CHUNK = 2048  # a fragmented heap still has blocks of this size
_WHOLE = 2  # blocks of that size that stay: opening a file needs one


class Loader:
    """Loads samples `index[j]` of `data` so that a pass can start at operator `first`.

    The model's arena must be laid out for `first` and stay so. cache: (bytes or None for all
    samples, name of a file for the prefixes of the rest or None).
    """

    def __init__(self, model, data, index, first, cache, mode=0):
        self._model = model
        self._data = data
        self._index = index
        self._first = first
        self._mode = mode
        self._sample = bytearray(model.sample_len)
        size = model.plan[L.PIN_LEN]
        self._pin = memoryview(model.arena)[:size]
        self._size = size
        self._each = max(1, _CHUNK // size)
        self._chunks = []
        self._slots = self._take(
            len(index) if cache[0] is None else min(len(index), cache[0] // size)
        )
        self._filled = bytearray(self._slots)
        self._file = None
        if cache[1] and first and self._slots < len(index):
            self._file = self._fill_file(cache[1])

    def _take(self, wanted):
        """Chunks for `wanted` samples, or as many as there is memory for."""
        slots = 0
        kept = []
        try:
            for _ in range(_WHOLE):
                kept.append(bytearray(_CHUNK))
        except MemoryError:
            pass
        while slots < wanted:
            n = min(self._each, wanted - slots)
            try:
                self._chunks.append(_chunk(n * self._size))
            except MemoryError:
                break
            slots += n
        return slots

    def _fill_file(self, path):
        """The file with the prefixes of the samples that have no place in memory; None if full."""
        try:
            with open(path, "wb") as f:
                for j in range(self._slots, len(self._index)):
                    self._compute(j)
                    if f.write(self._pin) != self._size:
                        return None
            return open(path, "rb")
        except OSError:
            return None

    def load(self, j):
        """The arena is ready for operator `first` on sample j of the index."""
        if j >= self._slots:
            if self._file is None:
                self._compute(j)
            else:
                files.seek(self._file, (j - self._slots) * self._size)
                self._file.readinto(self._pin)
            return
        chunk = self._chunks[j // self._each]
        at = j % self._each * self._size
        if not self._filled[j]:
            self._compute(j)
            chunk.seek(at)
            chunk.write(self._pin)
            self._filled[j] = 1
        else:
            chunk.seek(at)
            chunk.readinto(self._pin)

    def _compute(self, j):
        m = self._model
        self._data.read_into(self._index[j], self._sample)
        m.k.input(m.plan, m.blob, m.arena, self._sample)
        if self._first:
            m.k.forward(m.plan, m.blob, m.state, m.arena, 0, self._first, self._mode)

    def close(self):
        self._chunks = ()  # whatever still points here, the memory is free
        if self._file is not None:
            self._file.close()


def _chunk(n):
    """A stream of n bytes that reads and writes without allocating."""
    try:
        stream = io.BytesIO(n)  # MicroPython: room for n bytes
    except TypeError:
        stream = io.BytesIO()
    piece = bytes(256)  # a whole second chunk may have no room
    for at in range(0, n, 256):
        stream.write(piece if n - at >= 256 else bytes(n - at))
    return stream


def budget(reserve):
    """Bytes a cache may take: what is free but for `reserve`; None on CPython: no limit."""
    free = memory.free()
    return None if free is None else max(0, free - reserve)
