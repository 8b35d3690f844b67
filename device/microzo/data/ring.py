"""The last samples, in RAM."""

from ..board import memory
from .sources import check_sample


class Ring:
    """A data source of the last `capacity` samples of a model."""

    def __init__(self, model, capacity, labelled):
        self._x = memory.take("the ring of samples", capacity * model.sample_len)
        self._y = [-1] * capacity
        self._capacity = capacity
        self._total = 0
        self.sample_len = model.sample_len
        self.labelled = labelled

    def __len__(self):
        return min(self._total, self._capacity)

    def add(self, sample, label):
        i = self._total % self._capacity
        memoryview(self._x)[i * self.sample_len : (i + 1) * self.sample_len] = sample
        self._y[i] = label
        self._total += 1

    def check(self, model):
        check_sample("the ring", (len(self), self.sample_len), self.sample_len, model)

    def read_into(self, i, buf):
        if not 0 <= i < len(self):
            raise ValueError("the ring has samples 0..%d, not %s" % (len(self) - 1, i))
        view = memoryview(self._x)
        memoryview(buf)[:] = view[i * self.sample_len : (i + 1) * self.sample_len]
        return self._y[i]

    def label(self, i):
        return self._y[i]

    def close(self):
        """Nothing is open."""
