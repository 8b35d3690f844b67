"""Chooses the operators that a zeroth-order stage trains, before the run, by what each gives for
its bytes.

gradient (ZO-RGN of arXiv 2411.05873): the relative gradient norm |g| / |w|. With random signs the
mean square of the loss differences is |g|^2 already, so that a score takes a few scalars and no
gradient. test (test-and-pick of the same paper): the loss that one step of the stage saves.
Every operator is looked at alone, after the stages before, so that the search needs no more memory
than the smallest choice. Score per byte and the budgets are ours.
"""

from ..methods import stages
from ..net import arena as planner
from ..net import one_operator as oneop
from ..net import trainable as selection
from ..net import words as L
from ..train import trainer as trainers
from ..zo.factors import root

_PROBES = 32
_SAMPLES = 64  # of the run's, for the search
_TOP = 5


def find(recipe):
    """Index of the stage that wants a choice, or -1."""
    for i in range(len(recipe["stages"])):
        if recipe["stages"][i].get("pick"):
            return i
    return -1


def pick(trainer, data):
    """(operators, a note) for the stage of a new trainer that wants them. Its model is as in its
    file afterwards."""
    recipe = trainer.recipe

    def make(recipe, layers):
        return trainers.Trainer(
            trainer.model, recipe, layers, trainer.seed, ram=trainer.ram, cache=0
        )

    at = find(recipe)
    stage = recipe["stages"][at]
    final = dict(recipe, stages=[_plain(s) for s in recipe["stages"]])
    trial = dict(recipe, samples=min(_SAMPLES, recipe["samples"]), holdout=0)
    trial["stages"] = [_plain(s) for s in recipe["stages"][: at + 1]]
    changed = trial["stages"][at]
    changed.update({"guard": "", "by_layer": 0})
    if stage["pick"] == "gradient":
        changed.update({"probes": _PROBES, "samples": 256 // _PROBES})
    score = _gradient if stage["pick"] == "gradient" else _test
    plan = trainer.model.plan
    found = {}
    for op in selection.weighted(plan):
        one = make(trial, [op])
        try:
            one.begin(data)
            last = len(one.program["stages"]) - 1
            if one.program["stages"][last]["kind"] != stage["kind"]:
                raise ValueError("pick compares losses, the data have no labels")
            while one.at.stage < last or not one.at.begun:
                one.advance()
            found[op] = score(one, one.live_stage(), op)
        except MemoryError:
            found[op] = 0  # not even alone
        finally:
            one.model.reset()

    def fits(layers):
        try:
            make(final, layers).plan(len(data))
        except MemoryError:
            return False
        return True

    return choose(plan, stage, found, fits)


def _plain(stage):
    return {key: stage[key] for key in stage if key not in ("pick", "top", "macs")}


def choose(plan, stage, found, fits):
    """The best of `found` {operator: score} within the budgets, at least one; and a note.

    Best per byte of trained values first; what breaks a budget or harms is passed over.
    """
    budget = stage.get("macs", 0)
    order = sorted(found, key=lambda op: (-((found[op] << 16) // _bytes(plan, op)), op))
    chosen = []
    for op in order:
        wanted = sorted(chosen + [op])
        if found[op] <= 0 or budget and _macs(plan, wanted[0]) > budget or not fits(wanted):
            continue
        chosen = wanted
        if len(chosen) == stage.get("top", _TOP):
            break
    chosen = chosen or order[:1]
    scores = ", ".join("%d: %d" % (op, found[op]) for op in sorted(found))
    return chosen, "operators %s by %s, scores %s" % (chosen, stage["pick"], scores)


def _bytes(plan, op):
    return 2 * oneop.weights(plan, op) + 4 * plan[L.op_base(op) + L.OUT_C]


def _macs(plan, first):
    """Of a pass that starts at operator `first`."""
    return sum(planner.macs(plan, L.op_base(i)) for i in range(first, plan[L.N_OPS]))


def _gradient(trainer, stage, op):
    """Relative gradient norm, times a constant: root of the sum of squared loss differences over
    |w|^2 and the squared perturbation."""
    stage.measure(0)
    plan = trainer.model.plan
    o = L.op_base(op)
    at = plan[o + L.W_OFF]
    norm = 1
    for i in range(at, at + oneop.weights(plan, op)):
        w = trainer.model.blob[i]
        w = 256 - w if w > 127 else w
        norm += w * w
    norm *= max(1, plan[o + L.EPS_W]) ** 2
    return root((sum(d * d for d in stage.diffs) << 20) // norm)


def _test(trainer, stage, op):
    """Loss saved by one step of the stage, Q8 nats of all samples; negative if it harms."""
    guard = trainer.guard_of(trainer.program["samples"])
    guard.measure()
    before = guard.loss
    stage.estimate(0)
    stages.Applier(trainer.model, trainer.at.opening, None).apply(stage.record, stage.payload)
    guard.measure()
    return before - guard.loss
