"""Finds the step size of a zeroth-order stage by a line search along one estimate of the
gradient.

One step's probes, then a loss for each of _TRIES halvings on _SAMPLES samples: a few hundred
forwards. A single step may be longer than the steps of a whole run, hence _MARGIN. Ours.
"""

from ..journal import record
from ..methods import stages

_LARGEST = -4  # the first shift that is tried
_TRIES = 11
_SAMPLES = 64
_MARGIN = 1  # halvings below the best single step


def find(make, recipe, data):
    """The shift for the first stage of `recipe` that takes one. make(recipe) -> a Trainer; its
    model is as in its file afterwards."""
    at = _stage(recipe)
    kind = recipe["stages"][at]["kind"]
    made = dict(recipe, stages=[dict(s) for s in recipe["stages"][: at + 1]])
    made["stages"][at].update({
        "shift": _LARGEST, "first_shift": _LARGEST, "schedule": "constant", "guard": "",
        "clip": min(made["stages"][at]["clip"], 2047),
    })  # fmt: skip
    trainer = make(made)
    trainer.begin(data)
    last = len(trainer.program["stages"]) - 1
    if trainer.program["stages"][last]["kind"] != kind:
        trainer.model.reset()
        raise ValueError("find_step compares losses: %s" % "; ".join(trainer.program["notes"]))
    while trainer.at.stage < last or not trainer.at.begun:
        trainer.advance()
    try:
        return _search(trainer, trainer.live_stage()) + _MARGIN
    finally:
        trainer.model.reset()


def _stage(recipe):
    for i in range(len(recipe["stages"])):
        if recipe["stages"][i]["kind"] == "spsa":
            return i
    raise ValueError("find_step is for spsa stages, recipe %s has none" % recipe["name"])


def _search(trainer, stage):
    """The shift with the lowest loss."""
    model = trainer.model
    stage.estimate(0)
    rec = stage.record
    before = bytes(model.state)
    guard = trainer.guard_of(min(_SAMPLES, trainer.program["samples"]))
    applier = stages.Applier(model, trainer.at.opening, None)
    best = None
    fixed = record.get16(rec, 10)  # halvings of gns
    for i in range(_TRIES):
        record.put16(rec, 10, fixed + i)
        applier.apply(rec, stage.payload)
        guard.measure()
        memoryview(model.state)[:] = before
        if best is None or guard.loss < best[0]:
            best = guard.loss, _LARGEST + i
    return best[1]
