"""Recipes by name, several one after another, and changes of their settings."""

import json

import microzo
from microzo.methods import method


def recipe_of(name):
    """A recipe by name; the stages of several one after another for ``realign+head``. What begins
    with realign or refilter stages that came before goes on from there."""
    first, *others = name.split("+")
    made = microzo.recipe(first)
    for other in others:
        more = microzo.recipe(other)
        stages, before = more["stages"], list(made["stages"])
        while stages and not method(stages[0]["kind"]).perturbs and stages[0] in before:
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
        targets = [s for s in made["stages"] if s["kind"] in stage] if stage else [made]
        targets = [t for t in targets if key in (_rows(t["kind"]) if stage else t)]
        if not targets:
            raise ValueError(f"recipe {made['name']} has no setting {path}: {_known(made)}")
        for target in targets:
            target[key] = _value(_rows(target["kind"])[key][1] if stage else 0, value)
    return made


def _rows(kind):
    """{name: row} of the settings of a method."""
    declared = method(kind)
    return {row[0]: row for row in declared.settings + declared.options}


def _value(default, text):
    """Several words are separated by commas, ``spsa.train=weights,biases``."""
    if isinstance(default, tuple):
        return text.split(",")
    return int(text) if text.lstrip("-").isdigit() else text


def _known(made):
    """The settings that a recipe may be given, as a clause."""
    kinds = dict.fromkeys(stage["kind"] for stage in made["stages"])
    own = [key for key in made if key not in ("name", "stages")]
    found = [f"{kind}.({' '.join(sorted(_rows(kind)))})" for kind in kinds]
    return f"it has {', '.join(own + found)}"
