"""Recipes by name or from .json files: the dict that microzo.recipe() gives, as JSON."""

import json
import pathlib

import microzo
import microzo.recipes.names


def read(name):
    """The checked recipe of a name or of a .json file; ValueError in a sentence otherwise."""
    if not name.endswith(".json"):
        return microzo.recipe(name)
    try:
        made = json.loads(pathlib.Path(name).read_text())
    except ValueError as error:  # no JSON, or no text
        raise ValueError(f"{name} is no JSON: {error}") from None
    except RecursionError:
        raise ValueError(f"{name} is no recipe: its JSON is nested too deeply") from None
    try:
        microzo.recipes.names.check(made)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    return made
