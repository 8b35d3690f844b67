"""head and tail: mini-batches of exact gradients with momentum."""

from ..data import draw as sampling
from ..journal import record
from ..zo.schedule import extra_shift
from . import step_size as rate


class Grad:
    """A stage. estimate(step) adds a batch to the gradient buffers and fills `record`."""

    payload = None
    live_flag = record.LIVE
    flat = False
    clean = False  # an interrupted estimate leaves part of a batch in the buffers

    def __init__(self, model, spec, seed, node, gradient):
        self._model = model
        self.steps = spec["steps"]
        self._seed = seed
        self._batch = spec["batch"]
        self._conv_shift = spec["conv_shift"]
        self._head_shift = spec["head_shift"]
        self._decay = spec["decay"]
        self.gradient = gradient
        self.record = record.new(record.GRAD, 4 + 2 * self._batch, node)
        self.loss = 0  # sum over the batch, Q12
        self.count = self._batch
        self.correct = 0
        self._fed = self.fed_loss = 0

    def prepare(self, data, index, label, cache):
        from ..data.cache import Loader

        self.gradient.place()
        self._index = index
        self._label = label
        self._order = sampling.Order(self._model.k, len(index), self._seed)
        self._loader = Loader(self._model, data, index, self.gradient.first, cache)

    def close(self):
        self._loader.close()

    def open(self, opening):
        """Finds the step sizes for the model as it is and puts them into the STAGE record."""
        shifts = rate.shifts(
            self._model,
            self.gradient,
            self.gradient.conv,
            self._loader,
            len(self._index),
            self._batch,
        )
        at = record.HEADER + 14
        opening[at] = max(0, min(28, shifts[0] + self._conv_shift))
        opening[at + 1] = max(0, min(28, shifts[1] + self._head_shift))

    def resume(self, opening):
        """Takes the step sizes from the STAGE record."""
        self._shifts = opening[record.HEADER + 14], opening[record.HEADER + 15]

    def estimate(self, step):
        gradient = self.gradient
        g = step * self._batch
        loss = correct = 0
        at = record.HEADER + 4
        for _ in range(self._batch):
            j = self._order.at(g)
            g += 1
            self._loader.load(j)
            gradient.add(self._label[j])
            loss += gradient.loss >> 2
            correct += gradient.found == self._label[j]
            record.put16(self.record, at, self._index[j])
            at += 2
        self.loss = loss << 2
        self.correct = correct
        self._close(step)

    def feed(self, label, step):
        """estimate by single live samples; True when the record is complete."""
        gradient = self.gradient
        if self._fed == 0:
            self.loss = self.correct = 0
        self._loader.load(0)
        gradient.add(label)
        self.fed_loss = gradient.loss
        self.loss += gradient.loss
        self.correct += gradient.found == label
        self._fed += 1
        if self._fed < self._batch:
            return False
        self._fed = 0
        self._close(step)
        return True

    def _close(self, step):
        extra = extra_shift(step, self.steps)
        rec = self.record
        record.put32(rec, 4, step)
        rec[record.HEADER] = self._shifts[0] + extra
        rec[record.HEADER + 1] = self._shifts[1] + extra
        rec[record.HEADER + 2] = self._decay


class GradUpdate:
    """Applies GRAD records of one stage."""

    def __init__(self, model, gradient):
        self._model = model
        self.gradient = gradient

    def apply(self, rec):
        """The buffers already hold the batch."""
        at = record.HEADER
        self.gradient.apply(rec[at], rec[at + 1], rec[at + 2])

    def redo(self, rec, data, sample):
        """Reads the batch of a record again, then applies it. sample: a buffer of one sample."""
        m = self._model
        for at in range(record.HEADER + 4, len(rec) - record.CRC, 2):
            label = data.read_into(record.get16(rec, at), sample)
            m.k.input(m.plan, m.blob, m.arena, sample)
            if self.gradient.first:
                m.k.forward(m.plan, m.blob, m.state, m.arena, 0, self.gradient.first, 0)
            self.gradient.add(label)
        self.apply(rec)
