"""Recipes by name, several one after another, and changes of their settings."""

import json

import microzo
from microzo.methods import method

from .. import recipefile
from ..report.settings import rows, settings_text


def read(name):
    """A recipe by name (stages of several: realign+head), or from a .json file."""
    return recipefile.read(name) if name.endswith(".json") else recipe_of(name)


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
        targets = [t for t in targets if key in (rows(t["kind"]) if stage else t)]
        if not targets:
            raise ValueError(f"recipe {made['name']} has no setting {path}: {_known(made)}")
        for target in targets:
            target[key] = _value(rows(target["kind"])[key][1] if stage else 0, value)
    return made


def _value(default, text):
    """Several words are separated by commas, ``spsa.train=weights,biases``."""
    if isinstance(default, tuple):
        return text.split(",")
    return int(text) if text.lstrip("-").isdigit() else text


def _known(made):
    """The settings that a recipe may be given, as a clause."""
    kinds = dict.fromkeys(stage["kind"] for stage in made["stages"])
    own = [key for key in made if key not in ("name", "stages")]
    found = [f"{kind}.({' '.join(sorted(rows(kind)))})" for kind in kinds]
    return f"it has {', '.join(own + found)}"


def described(chosen):
    """What `--set help` prints: the settings of all stages of the chosen recipes."""
    kinds = dict.fromkeys(stage["kind"] for recipe in chosen for stage in recipe["stages"])
    return "\n".join(settings_text(kind) for kind in kinds)
