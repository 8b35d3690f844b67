"""Measures a model without labels."""

from ..zo.confidence import Confidence
from .guard import Score


class FreeGuard:
    """score() without labels: a stage is kept if the predictions came to say more of their
    samples.

    That is the mutual information of sample and class: confident and diverse. Entropy alone would
    reward a model that gives one class to all. The criterion is that of information maximization;
    its use as a guard is ours.
    """

    def __init__(self, model, data, index):
        self._model = model
        self._data = data
        self._index = index
        self._sample = bytearray(model.sample_len)
        self._confidence = Confidence(model)

    def score(self, state=None):
        """state: other trained values than the model's."""
        m = self._model
        state = m.state if state is None else state
        confidence = self._confidence
        confidence.clear()
        for i in self._index:
            self._data.read_into(i, self._sample)
            m.k.input(m.plan, m.blob, m.arena, self._sample)
            m.k.forward(m.plan, m.blob, state, m.arena, 0, m.ops, 0)
            confidence.take()
        if not confidence.count:
            return Score()
        return Score(confidence.information(), confidence.total // confidence.count)
