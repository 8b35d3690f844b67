"""Chooses the operators that a zeroth-order stage trains, before the run, by what each gives for
its bytes.

gradient (ZO-RGN of arXiv 2411.05873): the relative gradient norm |g| / |w|. With random signs the
mean square of the loss differences is |g|^2 already, so that a score takes a few scalars and no
gradient. test (test-and-pick of the same paper): the loss that one step of the stage saves.
Every operator is looked at alone, after the stages before, so that the search needs no more memory
than the smallest choice. Score per byte and the budgets are ours.
"""

from ..board.integers import int8, root
from ..net import arena as planner
from ..net import trainable
from ..net import words as L
from ..train import start
from .trial import trial

_PROBES = 32
_SAMPLES = 64  # of the run's, for the search
_TOP = 5


def pick(model, request, data):
    """(operators, a note) for the first stage of the request's recipe that wants a choice. The
    model is as in its file afterwards."""
    recipe = request.recipe
    at = 0
    while not recipe["stages"][at].get("pick"):
        at += 1
    stage = recipe["stages"][at]
    final = dict(recipe, stages=[_plain(s) for s in recipe["stages"]])
    short = dict(recipe, samples=min(_SAMPLES, recipe["samples"]), holdout=0)
    short["stages"] = [_plain(s) for s in recipe["stages"][: at + 1]]
    changed = short["stages"][at]
    changed.update({"guard": "", "by_layer": 0})
    if stage["pick"] == "gradient":
        changed.update({"probes": _PROBES, "samples": 256 // _PROBES})
    score = _gradient if stage["pick"] == "gradient" else _test
    scores = {}
    for op in trainable.weighted(model.plan):
        try:
            engine = trial(model, request.of(short, [op]), data)
            last = len(engine.run.program["stages"]) - 1
            if engine.run.program["stages"][last]["kind"] != stage["kind"]:
                raise ValueError("pick compares losses, the data have no labels")
            engine.begin_stage(last)
            scores[op] = score(engine, op)
        except MemoryError:
            scores[op] = 0  # not even alone
        finally:
            engine = None
            model.place(())

    def fits(layers):
        try:
            start.memory_of(model, request.of(final, layers), len(data), True, 0)
        except MemoryError:
            return False
        return True

    return choose(model.plan, stage, scores, fits)


def _plain(stage):
    return {key: stage[key] for key in stage if key not in ("pick", "top", "macs")}


def choose(plan, stage, scores, fits):
    """The best of `scores` {operator: score} within the budgets, at least one; and a note.

    Best per byte of trained values first; what breaks a budget or harms is passed over.
    """
    budget = stage.get("macs", 0)
    order = sorted(scores, key=lambda op: (-((scores[op] << 16) // _bytes(plan, op)), op))
    chosen = []
    for op in order:
        more = sorted(chosen + [op])
        if scores[op] <= 0 or budget and _macs(plan, more[0]) > budget or not fits(more):
            continue
        chosen = more
        if len(chosen) == stage.get("top", _TOP):
            break
    chosen = chosen or order[:1]
    text = ", ".join("%d: %d" % (op, scores[op]) for op in sorted(scores))
    return chosen, "operators %s by %s, scores %s" % (chosen, stage["pick"], text)


def _bytes(plan, op):
    return 2 * planner.weights(plan, op) + 4 * plan[L.op_base(op) + L.OUT_C]


def _macs(plan, first):
    """Of a pass that starts at operator `first`."""
    return sum(planner.macs(plan, L.op_base(i)) for i in range(first, plan[L.N_OPS]))


def _gradient(engine, op):
    """Relative gradient norm, times a constant: root of the sum of squared loss differences over
    |w|^2 and the squared perturbation."""
    stage = engine.stage()
    stage.measure(0)
    model = engine.run.model
    plan = model.plan
    o = L.op_base(op)
    at = plan[o + L.W_OFF]
    norm = 1
    for i in range(at, at + planner.weights(plan, op)):
        norm += int8(model.blob[i]) ** 2
    norm *= max(1, plan[o + L.EPS_W]) ** 2
    return root((sum(d * d for d in stage.diffs) << 20) // norm)


def _test(engine, op):
    """Loss saved by one step of the stage, Q8 nats of all samples; negative if it harms."""
    guard = engine.guard(0, engine.run.program["samples"])
    stage = engine.stage()
    before = guard.score().loss
    stage.estimate(0)
    stage.apply(stage.record)
    return before - guard.score().loss
