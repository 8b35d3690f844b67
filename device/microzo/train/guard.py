"""Measures a model before and after a stage, to keep the stage or to roll it back."""

from array import array


class Score:
    """correct of total samples and loss, a sum (Q12 >> 4 nats); of a FreeGuard the information
    (Q8 nats), 0 and the mean entropy (Q8)."""

    def __init__(self, correct=0, loss=0, total=0):
        self.correct = correct
        self.loss = loss
        self.total = total

    def better_than(self, before, strict):
        """True if accuracy rose, or is equal with a lower loss.

        strict: the loss must fall. One extra correct sample is often luck; a lower loss rarely is.
        For stages that learn without labels and are guarded with them.
        """
        if self.loss < before.loss:
            return self.correct >= before.correct
        return not strict and self.correct > before.correct


class Guard:
    """score() over the samples index[lo:hi] and their labels."""

    def __init__(self, model, data, index, label, lo, hi):
        self._model = model
        self._data = data
        self._index = index
        self._label = label
        self._lo = lo
        self._hi = hi
        self._sample = bytearray(model.sample_len)
        self._no_error = array("i")

    def score(self, state=None):
        """state: other trained values than the model's."""
        m = self._model
        state = m.state if state is None else state
        k = m.k
        correct = loss = 0
        for j in range(self._lo, self._hi):
            self._data.read_into(self._index[j], self._sample)
            k.input(m.plan, m.blob, m.arena, self._sample)
            label = self._label[j]
            correct += k.forward(m.plan, m.blob, state, m.arena, 0, m.ops, 0) == label
            loss += k.loss(m.plan, m.arena, label, self._no_error) >> 4
        return Score(correct, loss, self._hi - self._lo)
