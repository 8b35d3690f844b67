"""What the study runs: per data set the recipes, their changes, seeds and shifts."""

import dataclasses

from microzo_host.simulation import networks


@dataclasses.dataclass(frozen=True)
class Part:
    """``recipes``: (names for recipes.recipe_of, changes for recipes.settings) each, and a label
    if it is not the name."""

    data: str
    recipes: tuple
    n: int
    seeds: int
    test_images: int
    shifts: tuple
    yardsticks: tuple = ("bp",)


def plain(names, *changes):
    """Recipes under their own names, all with the same changes."""
    return tuple((name, changes) for name in names.split())


def _all(data):
    return tuple(name for name, _ in networks.reporting(data))


DEMO = (  # methods.md; realign+tail: default without refilter
    "realign refilter head tail realign+tail default spsa forward_only elastic qzo-ff zoqo scales "
    "node channel pmt"
)
NO_LABELS = ("refilter", ("realign.guard=", "refilter.guard=free"), "refilter, no labels")
ALL_YARDSTICKS = ("bp", "bp-bias-scale", "bp-head", "bp-statistics")
RESNET = (
    *plain("realign refilter"),
    NO_LABELS,
    *plain(
        "default channel realign+tail refilter+head realign+head head spsa forward_only node",
        "samples=1000",
    ),
)
QUICK = (
    Part("fashion", plain(DEMO), 256, 1, 1000, ("fog", "impulse", "translate")),
    Part("cifar10", plain("realign default"), 256, 1, 500, ("defocus",), ()),
    Part("keywords", plain("realign default"), 256, 1, 240, ("contrast",), ()),
)
FULL = (
    Part("fashion", (*plain(DEMO), NO_LABELS), 256, 3, 4000, _all("fashion"), ALL_YARDSTICKS),
    Part("cifar10", RESNET, 1000, 3, 1000, _all("cifar10"), ALL_YARDSTICKS),
    Part(
        "keywords",
        (*plain("realign refilter head spsa realign+tail default channel"), NO_LABELS),
        256,
        3,
        240,
        _all("keywords"),
        (),
    ),
)
