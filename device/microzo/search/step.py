"""Finds the step size of a zeroth-order stage by a line search along one estimate of the
gradient.

One step's probes, then a loss for each of _TRIES halvings on _SAMPLES samples: a few hundred
forwards. A single step may be longer than the steps of a whole run, hence _MARGIN. Ours.
"""

from ..journal import record
from .trial import trial

_LARGEST = -4  # the first shift that is tried
_TRIES = 11
_SAMPLES = 64
_MARGIN = 1  # halvings below the best single step


def find(model, request, data):
    """(shift, recipe with it) for the first stage of the request's recipe that takes one; the
    model is as in its file afterwards."""
    recipe = request.recipe
    at = _stage(recipe)
    kind = recipe["stages"][at]["kind"]
    short = dict(recipe, stages=[dict(s) for s in recipe["stages"][: at + 1]])
    short["stages"][at].update({
        "shift": _LARGEST, "first_shift": _LARGEST, "schedule": "constant", "guard": "",
        "clip": min(short["stages"][at]["clip"], 2047),
    })  # fmt: skip
    try:
        engine = trial(model, request.of(short, None), data)
        program = engine.run.program
        if program["stages"][-1]["kind"] != kind:
            raise ValueError("find_step compares losses: %s" % "; ".join(program["notes"]))
        engine.begin_stage(len(program["stages"]) - 1)
        shift = _search(engine) + _MARGIN
    finally:
        model.place(())
    stages = [dict(s) for s in recipe["stages"]]
    stages[at].update({"shift": shift, "first_shift": shift})
    return shift, dict(recipe, stages=stages)


def _stage(recipe):
    for i in range(len(recipe["stages"])):
        if recipe["stages"][i]["kind"] == "spsa":
            return i
    raise ValueError("find_step is for spsa stages, recipe %s has none" % recipe["name"])


def _search(engine):
    """The shift with the lowest loss."""
    stage = engine.stage()
    model = engine.run.model
    stage.estimate(0)
    rec = stage.record
    before = bytes(model.state)
    guard = engine.guard(0, min(_SAMPLES, engine.run.program["samples"]))
    best = None
    fixed = record.get16(rec, 10)  # halvings of norm scaling
    for i in range(_TRIES):
        record.put16(rec, 10, fixed + i)
        stage.apply(rec)
        loss = guard.score().loss
        memoryview(model.state)[:] = before
        if best is None or loss < best[0]:
            best = loss, _LARGEST + i
    return best[1]
