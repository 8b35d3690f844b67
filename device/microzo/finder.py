"""Finds the step size of a zeroth-order stage by a line search along one estimate of the
gradient.

One step's probes, then a loss for each of _TRIES halvings on _SAMPLES samples: a few hundred
forwards. A single step may be longer than the steps of a whole run, hence _MARGIN. Ours.
"""

from . import record, stages

_LARGEST = -4  # the first shift that is tried
_TRIES = 11
_SAMPLES = 64
_MARGIN = 1  # halvings below the best single step


def find(make, recipe, data):
    """The shift for the first stage of `recipe` that takes one. make(recipe) -> a Trainer; its
    model is as in its file afterwards."""
    at = _stage(recipe)
    made = dict(recipe, stages=[dict(s) for s in recipe["stages"][: at + 1]])
    made["stages"][at].update({
        "shift": _LARGEST, "first_shift": _LARGEST, "schedule": "constant", "guard": "",
        "clip": min(made["stages"][at]["clip"], 2047),
    })  # fmt: skip
    trainer = make(made)
    trainer.begin(data)
    while trainer.at.stage < at or not trainer.at.begun:
        trainer.advance()
    try:
        return _search(trainer, trainer.live_stage()) + _MARGIN
    finally:
        trainer.model.reset()


def _stage(recipe):
    for i in range(len(recipe["stages"])):
        if "first_shift" in recipe["stages"][i]:
            return i
    raise ValueError("recipe %s has no stage whose step could be found" % recipe["name"])


def _search(trainer, stage):
    """The shift with the lowest loss."""
    model = trainer.model
    stage.estimate(0)
    rec = stage.record
    before = bytes(model.state)
    guard = trainer.guard_of(min(_SAMPLES, trainer.program["samples"]))
    applier = stages.Applier(model, trainer.at.opening, None)
    best = None
    for i in range(_TRIES):
        record.put16(rec, 10, i)
        applier.apply(rec, stage.payload)
        guard.measure()
        memoryview(model.state)[:] = before
        if best is None or guard.loss < best[0]:
            best = guard.loss, _LARGEST + i
    return best[1]
