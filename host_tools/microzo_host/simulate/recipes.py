"""Recipes by name, several one after another, and changes of their settings."""

import json

import microzo
import microzo.methods.stages
import microzo.recipes.names


def recipe_of(name):
    """A recipe by name; the stages of several one after another for ``realign+head``. What begins
    with realign or refilter stages that came before goes on from there."""
    first, *others = name.split("+")
    made = microzo.recipe(first)
    for other in others:
        more = microzo.recipe(other)
        stages, before = more["stages"], list(made["stages"])
        while (
            stages and stages[0]["kind"] in microzo.methods.stages.REALIGN and stages[0] in before
        ):
            stages = stages[1:]
        made["stages"] += stages
        if "split" in more:
            made["split"] = more["split"]
    made["name"] = name
    return made


def settings(recipe, changes):
    """A copy of the recipe with changes such as ``spsa.shift=2`` or ``samples=64``."""
    made = json.loads(json.dumps(recipe))
    for text in changes:
        path, found, value = text.partition("=")
        if not found:
            raise ValueError(f"{text!r} is no change: write stage.setting=value")
        *stage, key = path.split(".")
        value = int(value) if value.lstrip("-").isdigit() else value
        targets = [s for s in made["stages"] if s["kind"] in stage] if stage else [made]
        optional = stage and key in microzo.recipes.names.OPTIONAL
        targets = [t for t in targets if key in t or optional and "sides" in t]
        if not targets:
            raise ValueError(f"recipe {made['name']} has no setting {path}: {_known(made)}")
        for target in targets:
            target[key] = value
    return made


def _known(made):
    """The settings that a recipe may be given, as a clause."""
    kinds = dict.fromkeys(stage["kind"] for stage in made["stages"])
    own = [key for key in made if key not in ("name", "stages")]
    found = [f"{kind}.({' '.join(microzo.recipes.names.keys(kind))})" for kind in kinds]
    return f"it has {', '.join(own + found)}"
