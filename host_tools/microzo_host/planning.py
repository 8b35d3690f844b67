"""All that `microzo plan` tells of a model, a recipe and a board: prediction, times, advice.

docs/import.md has the fields of its JSON.
"""

import dataclasses

import microzo

from . import advice, ramplan, steptime


def plan(path, recipe, layers, samples, target, romfs):
    """The result as a dict that json can hold; `refused` says why a run cannot be had, or ""."""
    common = _common(path, samples, target, romfs)
    try:
        made = ramplan.predict(path, recipe, layers, samples, target.ram, romfs)
    except ValueError as error:
        if "closed form" not in str(error):
            raise
        refused = advice.tail_refusal(path, samples, target.ram, romfs)
        return {"recipe": recipe, "samples": samples, "fits": False, "refused": refused, **common}
    found = dataclasses.asdict(made)
    found["refused"] = "" if made.fits else _too_large(path, layers, made)
    return {**found, **common, **_times(path, made, target)}


def _common(path, samples, target, romfs):
    best = advice.best_layers(path, samples, target.ram, romfs)
    others = advice.alternatives(path, samples, target.ram)
    return {
        "ram": target.ram,
        "romfs": romfs,
        "best_layers": best,
        "alternatives": [dataclasses.asdict(other) for other in others],
    }


def _times(path, made, target):
    costs = steptime.Costs(microzo.load(str(path)).plan, target.core)
    forward = costs.passes()
    each = [(stage["kind"], costs.step(stage, made.samples)) for stage in made.stages]
    steps = ramplan.largest(each)
    return {
        "core": target.core,
        "clock": target.clock,
        "instructions_forward": forward,
        "instructions_step": steps,
        "seconds_forward": forward / target.clock,
        "seconds_step": {kind: n / target.clock for kind, n in steps.items()},
    }


def _too_large(path, layers, made):
    """What is needed and what there is, and what would fit."""
    where = "" if made.romfs else " with the weights in RAM"
    text = f"recipe {made.recipe} needs {made.needed:,} bytes{where}, the board has {made.ram:,}"
    if not made.romfs:
        mapped = ramplan.predict(path, made.recipe, layers, made.samples, made.ram, True)
        if mapped.fits:
            return (
                f"{text}; mapped from ROMFS they take none, and {mapped.needed:,} bytes are "
                "enough: `microzo romfs`, then `microzo plan --romfs`"
            )
        text += f", {mapped.needed:,} with the weights mapped from ROMFS"
    return f"{text}: train fewer layers (--layers last2) or choose another recipe"
