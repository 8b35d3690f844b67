"""A sweep: recipes x corruptions x seeds, on a standard data set or on files of the user's own."""

import dataclasses

from . import jobs, networks, recipes, runs


@dataclasses.dataclass(frozen=True)
class Sweep:
    """chosen: recipe dicts; shifts: (corruption, severity) pairs; own: an own.Own, or None for the
    data set `data`; test_images: of the test, at most so many."""

    chosen: list
    shifts: list
    seeds: list
    data: str
    own: object = None
    test_images: int = 2000

    def runs(self):
        """The Run of every recipe, corruption and seed, in this order."""
        return [
            runs.run_of(recipe, *shift, seed, self._tested(), self.data, own=self.own)
            for recipe in self.chosen
            for shift in self.shifts
            for seed in self.seeds
        ]

    def before(self, folder, processes):
        """{shift: accuracy of the untrained model, in per cent}."""
        return runs.zero_shot(self.shifts, self._tested(), self.data, folder, processes, self.own)

    def _tested(self):
        if self.own is None:
            return self.test_images
        return min(self.test_images, len(self.own.test_of(None)[1]))


def of(names, changes=(), corruptions=(), seeds=(0,), data="fashion", own=None, test_images=2000):
    """The Sweep of what a user names; ValueError in a sentence for what there is not.

    names: recipes, .json files of recipes, or dicts. corruptions: NAME or NAME:SEVERITY; without
    any a data set has its tuning ones, files of the user's own have none.
    """
    chosen = [
        recipes.settings(name if isinstance(name, dict) else recipes.read(name), changes)
        for name in names
    ]
    if not chosen or not seeds:
        raise ValueError("a sweep needs a recipe and a seed at least")
    if corruptions:
        module = jobs.shifts_of(data, own) if set(corruptions) != {networks.CLEAN} else None
        shifts = [networks.shift(text, module) for text in corruptions]
    elif own is not None:
        shifts = [(networks.CLEAN, 0)]
    else:
        shifts = list(networks.shifts(data).TUNING)
    return Sweep(chosen, shifts, list(dict.fromkeys(seeds)), data, own, test_images)


def seeds(text):
    """Seeds of a text: ``3`` is 0, 1, 2; ``0,5,7`` are those; ``4-6`` is 4, 5, 6."""
    try:
        if text.isdigit() and int(text):
            return list(range(int(text)))
        listed = []
        for part in filter(None, text.split(",")):
            low, dash, high = part.partition("-")
            listed += range(int(low), int(high) + 1) if dash else [int(low)]
    except ValueError:
        listed = []
    if not listed or "," not in text and "-" not in text:
        raise ValueError(f"seeds {text!r}: give how many (3 is 0,1,2), or which: 0,5,7 or 4-6")
    return listed
