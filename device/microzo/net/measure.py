"""Measures a model: loss and accuracy. A board needs this code while it measures, not else."""

from array import array

from .. import misfit
from .model import Accuracy, predict


def loss(model, pair):
    """Cross-entropy in nats of (sample, label)."""
    sample, label = pair
    predict(model, sample)
    return model.k.loss(model.plan, model.arena, label, array("i")) / 4096


def evaluate(model, request):
    """Accuracy of (data, number of samples or None, progress or None)."""
    data, n, progress = request
    model.check(data)
    n = len(data) if n is None else n
    if not isinstance(n, int) or min(n, len(data)) < 1:
        raise misfit("of_evaluation", n)
    n = min(n, len(data))
    sample = bytearray(model.sample_len)
    no_error = array("i")
    correct = total = 0
    for i in range(n):
        label = data.read_into(i, sample)
        if label is None or not 0 <= label < model.classes:
            raise misfit("of_label", i, label, model.classes)
        correct += predict(model, sample) == label
        total += model.k.loss(model.plan, model.arena, label, no_error)
        if progress:
            progress(i + 1, n)
    return Accuracy(correct, n, total / n / 4096)
