"""Measures a model on samples without labels, to keep or roll back a stage.

A stage is kept if the predictions came to say more of their samples (mutual information of sample
and class): confident and diverse. Entropy alone would reward a model that gives one class to all.
The criterion is that of information maximization; its use as a guard is ours.
"""

from ..zo.confidence import Confidence


class FreeGuard:
    """measure() sets correct (the information, Q8 nats) and loss (mean entropy, Q8); total is
    0, as nothing is known to be right."""

    total = 0

    def __init__(self, model, data, index):
        self._model = model
        self._data = data
        self._index = index
        self._sample = bytearray(model.sample_len)
        self._confidence = Confidence(model)
        self.correct = self.loss = 0

    def measure(self):
        m = self._model
        found = self._confidence
        found.clear()
        for i in self._index:
            self._data.read_into(i, self._sample)
            m.input(self._sample)
            m.forward()
            found.take()
        self.correct = found.information()
        self.loss = found.total // found.count
