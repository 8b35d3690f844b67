"""All that `microzo plan` tells of a model, a recipe and a board: prediction, times, advice.

docs/reference/plan.md has the fields of its JSON.
"""

import dataclasses

import microzo

from . import advice
from . import ram as ramplan
from . import time as steptime


def plan(path, recipe, layers, samples, target, romfs):
    """The result as a dict that json can hold; `refused` says why a run cannot be had, or "".

    recipe: a name or a dict.
    """
    recipe = microzo.recipe(recipe) if isinstance(recipe, str) else recipe
    others = advice.alternatives(path, samples, target.ram, target.core)
    common = {
        "ram": target.ram,
        "romfs": romfs,
        "best_layers": advice.best_layers(path, samples, target.ram, romfs, target.core),
        "alternatives": [dataclasses.asdict(other) for other in others],
    }
    try:
        made = ramplan.predict(path, recipe, layers, samples, target.ram, romfs, target.core)
    except ValueError as error:
        if "closed form" not in str(error):
            raise
        refused = advice.tail_refusal(path, samples, target.ram, romfs, target.core)
        name = recipe["name"]
        return {"recipe": name, "samples": samples, "fits": False, "refused": refused, **common}
    found = dataclasses.asdict(made)
    found["refused"] = (
        "" if made.fits else _too_large(path, recipe, layers, made, others, target.core)
    )
    return {**found, **common, **times(path, made, target)}


def times(path, made, target):
    """How long a Prediction takes on a Target: instructions and seconds, as the page has them."""
    costs = steptime.Costs(microzo.load(str(path)).plan, target.core)
    forward = costs.passes()
    each = [(stage["kind"], costs.step(stage, made.samples)) for stage in made.stages]
    whole = sum(costs.stage(stage, made.samples) for stage in made.stages)
    # A guard passes all samples before and after its stage.
    whole += sum(2 * made.samples * forward for stage in made.stages if stage["guard"])
    steps = ramplan.largest(each)
    return {
        "core": target.core,
        "clock": target.clock,
        "instructions_forward": forward,
        "instructions_step": steps,
        "seconds_forward": forward / target.clock,
        "seconds_step": {kind: n / target.clock for kind, n in steps.items()},
        "seconds_run": whole / target.clock,
    }


def _too_large(path, recipe, layers, made, others, core):
    """What is needed and what there is, and what would fit."""
    text = f"recipe {made.recipe} needs {made.needed:,} bytes"
    if not made.romfs:
        mapped = ramplan.predict(path, recipe, layers, made.samples, made.ram, True, core)
        text += " with the weights in RAM"
        if mapped.fits:
            last = advice.fewer(path, recipe, layers, made.samples, made.ram, False, core)
            return (
                f"{text}, the board has {made.ram:,}; mapped from ROMFS they take none, and "
                f"{mapped.needed:,} bytes are enough: `microzo romfs`, then `microzo plan --romfs`"
                + (f"; or train fewer layers, --layers {last}" if last else "")
            )
        text += f" and {mapped.needed:,} with them mapped from ROMFS"
    cures = advice.cures(path, recipe, layers, made, others, core)
    return f"{text}, the board has {made.ram:,}: {cures}"
