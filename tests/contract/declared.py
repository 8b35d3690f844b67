"""What the contract is tried on, from the declarations alone: every method there is, and recipes
of it that take each word and each edge of its settings once. A new method needs no line here."""

import functools
import importlib
import itertools
import pathlib
import typing

import microzo.methods

# so that a run is a few passes long, and not rolled back
LONG = {"steps": 3, "probes": 2, "samples": 2, "epochs": 1, "batch": 4}
SHORT = dict(LONG, guard="")
SAMPLES = 12
HOLDOUT = 25


class Variant(typing.NamedTuple):
    """A recipe: a method with changes of its short defaults; steps: of Trainer.run."""

    name: str
    kind: str
    changes: dict
    steps: int | None = None

    @property
    def recipe(self):
        stage = dict(short(self.kind), **self.changes)
        return {"name": "c", "samples": SAMPLES, "holdout": HOLDOUT, "stages": [stage]}


@functools.cache
def methods():
    """The declarations, by kind."""
    folder = pathlib.Path(microzo.methods.__file__).parent
    modules = [importlib.import_module(f"microzo.methods.{p.stem}") for p in folder.glob("*.py")]
    found = [module.METHOD for module in modules if hasattr(module, "METHOD")]
    return {method.kind: method for method in sorted(found, key=lambda m: m.kind)}


def short(kind):
    stage = methods()[kind].defaults()
    return {key: SHORT.get(key, value) for key, value in stage.items()}


def values(row):
    """Each word, or both edges, of a row."""
    if isinstance(row[1], tuple):
        return [(word,) for word in row[2]] + [tuple(row[2])]
    if isinstance(row[1], str):
        return list(row[2])
    return [row[2], row[3]]


def rows(kind):
    return methods()[kind].settings + methods()[kind].options


def refusal(kind, changes):
    """The sentence of check() for short defaults with changes; "" if it lets them pass."""
    try:
        methods()[kind].check(dict(short(kind), **changes))
    except ValueError as e:
        return str(e)
    return ""


def completed(kind, changes):
    """The changes, with the first values of at most two other settings that they need."""
    singles = [(row[0], value) for row in rows(kind) for value in values(row)]
    for count in range(3):
        for others in itertools.combinations(singles, count):
            more = {**dict(others), **changes}
            if len(more) == len(changes) + count and not refusal(kind, more):
                return more
    raise AssertionError(f"{kind}: nothing goes with {changes}: {refusal(kind, changes)}")


def word(changes):
    return " ".join(
        f"{k}={'+'.join(v) if isinstance(v, tuple) else v}" for k, v in changes.items()
    )


def variant(kind, changes):
    long = any(name in LONG for name in changes)
    return Variant(f"{kind} {word(changes) or 'short'}", kind, changes, 2 if long else None)


@functools.cache
def variants(kind):
    """Short defaults, then each value of each setting once."""
    plain = short(kind)
    singles = [(row[0], value) for row in rows(kind) for value in values(row)]
    return [variant(kind, {})] + [
        variant(kind, completed(kind, {name: value}))
        for name, value in singles
        if plain.get(name) != value
    ]


@functools.cache
def everything():
    return [one for kind in methods() for one in variants(kind)]


@functools.cache
def pairs(kind):
    """Each value of an optional setting beside each value of every other setting, and what either
    needs."""
    options = [(row[0], value) for row in methods()[kind].options for value in _on(row)]
    settings = [(row[0], value) for row in methods()[kind].settings for value in values(row)]
    settings = [one for one in settings if one[0] not in LONG and short(kind)[one[0]] != one[1]]
    both = itertools.chain(
        itertools.combinations(options, 2), itertools.product(options, settings)
    )
    needs = {one: completed(kind, dict([one])) for one in options + settings}
    return [
        Variant(f"{kind} {word(dict(pair))}", kind, needs[pair[0]] | needs[pair[1]] | dict(pair))
        for pair in both
        if pair[0][0] != pair[1][0]
    ]


def _on(row):
    return [value for value in values(row) if value not in ("", 0)]
