"""Runs that are drawn: every recipe in turn, and how often its journal and state are saved."""

import small


def run(rng, number):
    """(recipe, layers, options of a Trainer) of case `number`."""
    _, name, changes, layers = small.CASES[number % len(small.CASES)]
    made = small.short(name, samples=12)
    made["stages"][-1].update(changes)
    options = {
        "sync_every": rng.choice((1, 1, 2, 5, 50)),
        "checkpoint_every": rng.choice((1, 2, 3, 25)),
    }
    return made, layers, options
