"""A model's accuracy and logits over the C kernels."""

import dataclasses

import numpy as np

import microzo


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """What samples and labels say of a model; rows: the logits of each sample as bytes."""

    correct: int
    total: int
    loss: float
    rows: list

    @property
    def accuracy(self):
        """In per cent."""
        return 100 * self.correct / self.total

    def logits(self):
        """int32 [samples, classes], 1/4096 nats."""
        return np.frombuffer(b"".join(self.rows), "<i4").reshape(self.total, -1)


def evaluate(model, x, y, progress):
    """The Evaluation of the files model, x, y; progress(done, n) is called for each sample."""
    loaded, rows = microzo.load(model), []

    def tell(done, n):
        rows.append(loaded.logits().tobytes())
        progress(done, n)

    result = loaded.evaluate(microzo.Dataset(x, y), progress=tell)
    return Evaluation(result.correct, result.total, result.loss, rows)
