"""Measures a model on labelled samples, to keep or roll back a stage."""

from array import array


class Guard:
    """measure() sets correct, loss (sum, Q12 >> 4) over the samples index[lo:hi]."""

    def __init__(self, model, data, index, label, lo, hi):
        self._model = model
        self._data = data
        self._index = index
        self._label = label
        self._range = (lo, hi)
        self._sample = bytearray(model.sample_len)
        self._no_error = array("i")
        self.total = hi - lo
        self.correct = 0
        self.loss = 0

    def measure(self):
        m = self._model
        k = m.k
        correct = loss = 0
        for j in range(self._range[0], self._range[1]):
            self._data.read_into(self._index[j], self._sample)
            k.input(m.plan, m.blob, m.arena, self._sample)
            label = self._label[j]
            correct += k.forward(m.plan, m.blob, m.state, m.arena, 0, m.ops, 0) == label
            loss += k.loss(m.plan, m.arena, label, self._no_error) >> 4
        self.correct = correct
        self.loss = loss


def helps(strict, correct, loss, correct_before, loss_before):
    """A stage is kept if accuracy rose, or is equal with a lower loss.

    strict, for stages that learn without labels and are guarded with them: only with a lower
    loss, which chance gives less often than one more right sample.
    """
    if loss < loss_before:
        return correct >= correct_before
    return not strict and correct > correct_before
