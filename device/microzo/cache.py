"""Puts samples before a given operator: from a cache of prefix activations, as far as it
reaches, else computed."""

import io

from . import layout as L
from . import memory

_CHUNK = 4096  # a fragmented heap still has blocks of this size


class Loader:
    """Loads samples `index[j]` of `data` so that a pass can start at operator `first`.

    The model's arena must be laid out for `first` and stay so. limit: bytes for the cache (None:
    all samples).
    """

    def __init__(self, model, data, index, first, limit, mode=0):
        self._model = model
        self._data = data
        self._index = index
        self._first = first
        self._mode = mode
        self._sample = bytearray(model.sample_len)
        self._pin = memoryview(model.arena)[: model.plan[L.PIN_LEN]]
        size = model.plan[L.PIN_LEN]
        self._each = max(1, _CHUNK // size)
        slots = len(index) if limit is None else min(len(index), limit // size)
        self._chunks = []
        self._slots = 0
        self._size = size
        while self._slots < slots:
            n = min(self._each, slots - self._slots)
            try:
                self._chunks.append(_chunk(n * size))
            except MemoryError:
                break
            self._slots += n
        self._filled = bytearray(self._slots)
        self.bytes = self._slots * size

    def load(self, j):
        """The arena is ready for operator `first` on sample j of the index."""
        if j < self._slots and self._filled[j]:
            chunk = self._chunks[j // self._each]
            chunk.seek(j % self._each * self._size)
            chunk.readinto(self._pin)
            return
        m = self._model
        self._data.read_into(self._index[j], self._sample)
        m.k.input(m.plan, m.blob, m.arena, self._sample)
        if self._first:
            m.k.forward(m.plan, m.blob, m.state, m.arena, 0, self._first, self._mode)
        if j < self._slots:
            chunk = self._chunks[j // self._each]
            chunk.seek(j % self._each * self._size)
            chunk.write(self._pin)
            self._filled[j] = 1


def _chunk(n):
    """A stream of n bytes that reads and writes without allocating."""
    try:
        stream = io.BytesIO(n)  # MicroPython: room for n bytes
    except TypeError:
        stream = io.BytesIO()
    stream.write(bytearray(n))
    return stream


def budget(reserve):
    """Bytes a cache may take: what is free but for `reserve`; None on CPython: no limit."""
    free = memory.free()
    return None if free is None else max(0, free - reserve)
