"""Runs that only measure: a trial has no journal and no cache."""

from ..data import draw
from ..train import start
from ..train.engine import Engine, Samples


def trial(model, request, data):
    """An Engine before its first stage."""
    model.check(data)
    run, store = start.start(model, request, data, None)
    index, label = draw.draw(
        model.k, data, run.program["samples"], model.classes, run.seed,
        bytearray(model.sample_len),
    )  # fmt: skip
    return Engine(run, Samples(data, index, label, 0, None), store)
