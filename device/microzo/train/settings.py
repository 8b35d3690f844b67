"""Settings of a script such as device/examples/train.py: defaults, a file, variables. A board
forgets this code before the run."""

import json

from ..board import files
from ..board.memory import Compact

FILE = "settings.json"
_PAIRS = ("train", "test")  # settings that are files of samples and labels


def read(defaults, variables):
    """(settings, names of those that were given): the defaults, replaced by the keys of
    settings.json, then by variables of the same name. ValueError for a name that is none."""
    given = {}
    if files.exists(FILE):
        given.update(_from_file())
    for name in given:
        if name not in defaults:
            from ..board.nearest import meant

            raise ValueError("%s has a %r: %s" % (FILE, name, meant(name, defaults)))
    ignored = []
    for name in variables:
        value = variables[name]
        if name in defaults:
            given[name] = value
        elif name == name.lower() and not name.startswith("_") and _plain(value):
            ignored.append(name)
    if ignored:
        _ignore(sorted(ignored), defaults)
    for name in _PAIRS:
        if name in given and (isinstance(given[name], str) or not 1 <= len(given[name]) <= 2):
            raise ValueError(
                '%s is the files of samples and of labels, ("%s_x.npy", "%s_y.npy"), not %r'
                % (name, name, name, given[name])
            )
    settings = dict(defaults, **given)
    _check_apart(settings)
    return settings, tuple(given)


def _check_apart(settings):
    """ValueError if what the script writes would destroy another of its files."""
    from .. import forget

    names = ("cache_file", "adapted", "journal", "model")
    entries = [(name, settings[name]) for name in names if name in settings]
    for name in _PAIRS:
        entries += [(name, path) for path in settings.get(name) or ()]
    try:
        with Compact():
            from .paths import check_apart

            check_apart(*entries)
    finally:
        forget("train.paths")
        forget("board.same")


def _ignore(names, defaults):
    """ValueError for a variable that is a slip of a setting; the others are told."""
    from ..board.nearest import meant, near

    for name in names:
        if near(name, defaults):
            raise ValueError("there is no setting %s: %s" % (name, meant(name, defaults)))
    print("these variables are no settings: " + ", ".join(names))


def _from_file():
    with open(FILE) as f:
        try:
            settings = json.load(f)
        except ValueError:
            raise ValueError(
                FILE + ' is no JSON: names and texts stand in double quotes, {"recipe": "tail"}'
            )
    if not isinstance(settings, dict):
        raise ValueError(FILE + ' holds one object with settings, {"recipe": "tail"}')
    return settings


def _plain(value):
    return isinstance(value, (str, int, float, list, tuple, dict))


def check_journal(trainer, settings, given):
    """ValueError if the settings ask for another run than that of the resumed trainer's journal.

    While it is not finished, defaults ask for nothing.
    """
    program = trainer.program
    recipe = settings["recipe"]
    recipe = recipe if isinstance(recipe, str) else recipe["name"]
    steps = settings["steps"]
    lengths = [spec["steps"] for spec in program["stages"]]
    wrong = []
    for name, asked, has in (
        ("recipe", recipe, program["recipe"]),
        ("seed", settings["seed"], trainer.seed),
        ("steps", steps, steps if steps is None or steps in lengths else lengths[-1]),
    ):
        if asked != has and (trainer.finished or name in given):
            wrong.append(("%s %s" % (name, has), "%s %s" % (name, asked)))
    if wrong:
        raise ValueError(
            "%s is of a run with %s, the settings ask for %s: delete it, or name another journal"
            % (
                settings["journal"],
                ", ".join([pair[0] for pair in wrong]),
                ", ".join([pair[1] for pair in wrong]),
            )
        )
