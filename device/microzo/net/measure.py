"""Measures a model: loss and accuracy. A board needs this code while it measures, not else."""

from array import array

from .. import misfit
from . import arena as planner
from . import words as L
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
    if n is not None and not isinstance(n, int):
        raise TypeError("evaluate takes a data source, such as microzo.ArrayData(x, y)")
    n = len(data) if n is None else min(n, len(data))
    if n < 1:
        raise ValueError("there are no samples to evaluate")
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


def output(model, op):
    """int8 output of operator `op`, as a forward left it."""
    if not 0 <= op < model.ops:
        raise ValueError("operator %s does not exist, choose 0..%d" % (op, model.ops - 1))
    o = L.op_base(op)
    at = model.plan[o + L.OUT_OFF]
    return array("b", bytes(memoryview(model.arena)[at : at + planner.out_size(model.plan, o)]))
