"""What else a board could train: every recipe, fewer layers, the best set of them, what tail would
need."""

import dataclasses

import microzo
from microzo.methods import method
from microzo.net import arena, trainable
from microzo.net import words as L
from microzo.recipes import names, resolve

from . import ram as ramplan

UNIT = 8  # bytes; trained values of an operator begin on multiples of it


@dataclasses.dataclass(frozen=True)
class Alternative:
    """A recipe; `stages`: kinds that would run, fewer than the recipe's where they do not fit.
    `peak` and `needed` are 0 if it can train nothing of the model."""

    recipe: str
    romfs: bool
    stages: list
    peak: int
    needed: int
    fits: bool


def alternatives(path, samples, ram, core):
    """Every recipe with weights in RAM, then with weights mapped from ROMFS."""
    found = []
    for recipe in names.RECIPES:
        for romfs in (False, True):
            try:
                made = ramplan.predict(path, recipe, "auto", samples, ram, romfs, core)
                kinds = [stage["kind"] for stage in made.stages]
                found.append(Alternative(recipe, romfs, kinds, made.peak, made.needed, made.fits))
            except ValueError:
                found.append(Alternative(recipe, romfs, [], 0, 0, False))
    return found


def fewer(path, recipe, layers, samples, ram, romfs, core):
    """The largest "lastN" with fewer operators than `layers` chooses with which a recipe fits, or
    ""."""
    plan = microzo.load(str(path)).plan
    if not any(method(stage["kind"]).perturbs for stage in recipe["stages"]):
        return ""
    for n in range(len(trainable.choose(plan, layers)) - 1, 0, -1):
        try:
            made = ramplan.predict(path, recipe, f"last{n}", samples, ram, romfs, core)
            if made.fits:
                return f"last{n}"
        except ValueError:  # node and elastic train no last operator
            pass
    return ""


def cures(path, recipe, layers, made, others, core):
    """A clause for a recipe that does not fit: what does, or how much the least would take."""
    found = []
    last = fewer(path, recipe, layers, made.samples, made.ram, made.romfs, core)
    if last:
        found.append(f"--layers {last} fits")
    for romfs in (made.romfs, True):
        fitting = [a for a in others if a.romfs == romfs and _whole(a)]
        others_fit = [a.recipe for a in fitting if a.recipe != made.recipe]
        if others_fit:
            mapped = " --romfs" if romfs and not made.romfs else ""
            found.append(f"recipes that fit{mapped}: {', '.join(others_fit)}")
            break
    if found:
        return "; ".join(found)
    least = min((a for a in others if a.needed), key=lambda a: a.needed)
    where = "mapped from ROMFS" if least.romfs else "in RAM"
    return (
        f"no recipe fits, the least is {least.recipe} with {least.needed:,} bytes and the weights "
        f"{where}"
    )


def _whole(alternative):
    """True if all stages of a recipe fit."""
    stages = microzo.recipe(alternative.recipe)["stages"]
    return alternative.fits and set(alternative.stages) == {s["kind"] for s in stages}


def best_layers(path, samples, ram, romfs, core="m4", recipe="spsa"):
    """The operators with the most bytes of trained values that fit together, or [].

    Exact: for every first operator, which fixes the arena, the largest sum of sizes within the
    budget; of equals the deepest.
    """
    model = microzo.load(str(path))
    made = microzo.recipe(recipe)
    budget = ramplan.room(model, made, ram, romfs, core)
    best = (0, [])
    ops = trainable.weighted(model.plan)
    sizes = {op: _size(model, made, op, samples) for op in ops}
    for first in ops:
        needs = sum(ramplan.needs(model, _program(model, made, [first], samples)).values())
        rest = [op for op in ops if op > first]
        space = (budget - needs) // UNIT
        if space >= 0:
            chosen = [first, *_fill(rest, sizes, space)]
            best = max(best, (sum(sizes[op] for op in chosen), chosen))
    return best[1]


def _program(model, recipe, ops, samples):
    return resolve.resolve(model, recipe, ops, samples, True, None, None, False)


def _size(model, recipe, op, samples):
    """UNITs of trained values of an operator."""
    needs = ramplan.needs(model, _program(model, recipe, [op], samples))
    return needs["trained values"] // UNIT


def _fill(ops, sizes, space):
    """Those of `ops` whose sizes have the largest sum within `space`."""
    reached = [1]  # bit n: a sum of n can be had from the operators so far
    for op in ops:
        reached.append(reached[-1] | reached[-1] << sizes[op])
    left = (reached[-1] & (1 << space + 1) - 1).bit_length() - 1
    chosen = []
    for op, before in zip(reversed(ops), reversed(reached[:-1]), strict=True):
        if left >= sizes[op] and before >> left - sizes[op] & 1:
            chosen.append(op)
            left -= sizes[op]
    return chosen[::-1]


def tails(model):
    """Convolutions whose output reaches the head through additions and pools alone."""
    plan = model.plan
    head = trainable.head(plan)
    tensors = {plan[L.op_base(head) + L.IN]} if head >= 0 else set()
    found = []
    for op in range(head - 1, -1, -1):
        o = L.op_base(op)
        if plan[o + L.OUT] not in tensors:
            continue
        if plan[o + L.KIND] in (L.ADD, L.AVGPOOL, L.MEAN):
            tensors |= {plan[o + L.IN], plan[o + L.IN2]}
        elif plan[o + L.KIND] in (L.CONV, L.DWCONV):
            found.append(op)
    return found[::-1]


def tail_refusal(path, samples, ram, romfs, core):
    """Why `tail` is not to be had, with the bytes that each convolution before the head would
    take."""
    model = microzo.load(str(path))
    tail = microzo.recipe("tail")
    heap = ram - ramplan.room(model, tail, ram, romfs, core)
    stage = dict(tail["stages"][0], head=trainable.head(model.plan))
    numbers = []
    for op in tails(model):
        program = {"samples": samples, "train": samples, "stages": [dict(stage, ops=[op])]}
        peak = heap + sum(ramplan.needs(model, program).values())
        numbers.append(f"{arena.name(model.plan, op)} would need {peak:,} bytes")
    return (
        "no tail: its closed form wants a convolution right before the head, its pool, or one ADD "
        "that is; "
        f"here {', '.join(numbers) or 'there is none'}, and the board has {ram:,}"
    )
