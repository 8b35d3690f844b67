"""Recipes as data: a dict that prints, and that a user may change before giving it to Trainer.

{"name", "samples": how many are drawn, "holdout": per cent of them kept from training for the
guard, "stages": [...], in order}. A stage is a dict of the settings of its method
(microzo/methods); "split" (may be left out): which operators spsa and node stages share, "size" or
the first one of those that node trains (allocate.py); "live" (may be left out): a run on live
samples, the number of them that it collects. guard of a stage: "all" or "held" (all,
where none are held out): the samples that decide whether it is kept; "free": all, without their
labels; "": it is kept unseen.
"""

_QZO_FF = {"wide": 1, "rule": "sign", "clip": 32, "shift": 0}
_ZOQO = {
    "rule": "sign", "probes": 1, "samples": 64, "clip": 256, "shift": 0, "schedule": "constant",
}  # fmt: skip
_CHANNEL = {
    "epochs": 20, "batch": 32, "probes": 64, "eps": 4, "conv_shift": 5, "per_channel": 1,
}  # fmt: skip
_PMT_WEIGHTS = {
    "antithetic": 0, "probes": 25, "samples": 8, "steps": 80, "by_layer": 1, "rule": "spread",
    "norm_scaling": "root", "clip": 1024, "shift": 2, "first_shift": 1,
}  # fmt: skip
_PMT_NODES = {"epochs": 20, "conv_shift": 9, "norm_scaling": "root"}

# name: (kind of a stage, what differs from the defaults of its method), ...
RECIPES = {
    "realign": (("realign", {}),),
    "refilter": (("realign", {}), ("refilter", {})),
    "recolor": (("realign", {}), ("refilter", {}), ("recolor", {})),
    "head": (("head", {}),),
    "tail": (("tail", {}),),
    "spsa": (("spsa", {}),),
    "elastic": (("elastic", {}),),
    "entropy": (("realign", {"guard": "free"}), ("entropy", {})),
    "qzo-ff": (("spsa", _QZO_FF),),
    "zoqo": (("spsa", _ZOQO),),
    "node": (("realign", {}), ("node", {})),
    "channel": (("realign", {}), ("refilter", {}), ("node", _CHANNEL)),
    "scales": (("spsa", {"train": ("biases", "scales")}),),
    "pmt": (("spsa", _PMT_WEIGHTS), ("node", _PMT_NODES)),
    "forward_only": (("realign", {}), ("refilter", {}), ("spsa", {})),
    "default": (("realign", {}), ("refilter", {}), ("tail", {})),
}
_SPLIT = {"pmt": "size"}
_KEYS = ("name", "samples", "holdout", "stages")
_NUMBERS = (("samples", 1, 4096), ("holdout", 0, 90), ("live", 4, 1024), ("window", 4, 1024))
_MORE = ("split", "live", "window")  # that may be left out; a live run has a window


def recipe(name):
    """A fresh copy of the recipe of that name; ValueError if there is none."""
    from ..methods import forget_declarations, method

    if name not in RECIPES:
        from ..board.nearest import meant

        raise ValueError("unknown recipe %r: %s" % (name, meant(name, RECIPES)))
    stages = []
    for kind, changes in RECIPES[name]:
        stage = method(kind).defaults()
        stage.update(changes)
        stages.append(stage)
    forget_declarations()
    new = {"name": name, "samples": 256, "holdout": 0, "stages": stages}
    if name in _SPLIT:
        new["split"] = _SPLIT[name]
    return new


def check(recipe):
    """ValueError if a recipe that a user wrote or changed cannot run."""
    if not isinstance(recipe, dict):
        raise ValueError("a recipe is a dict, start from microzo.recipe(name)")
    for key in recipe:
        if key not in _KEYS + _MORE:
            from ..board.nearest import meant

            raise ValueError(
                "a recipe has no %r: %s; settings of a method belong to a stage, "
                'recipe["stages"][-1]' % (key, meant(key, _KEYS + _MORE))
            )
    for key in _KEYS:
        if key not in recipe:
            raise ValueError("the recipe has no %r, start from microzo.recipe(name)" % key)
    for key, low, high in _NUMBERS:
        if key in recipe and not (isinstance(recipe[key], int) and low <= recipe[key] <= high):
            raise ValueError("%s of a recipe is %d..%d, not %r" % (key, low, high, recipe[key]))
    if not isinstance(recipe["stages"], (list, tuple)) or not recipe["stages"]:
        raise ValueError("stages of a recipe is a list of at least one stage")
    split = recipe.get("split", "size")
    if split != "size" and (not isinstance(split, int) or not 0 <= split <= 255):
        raise ValueError('split is "size" or the number of an operator, not %r' % (split,))
    for stage in recipe["stages"]:
        check_stage(stage)
    if "split" in recipe and any(stage.get("pick") for stage in recipe["stages"]):
        raise ValueError("split and pick both choose the operators, take one of them")


def check_stage(stage):
    from ..methods import method

    if not isinstance(stage, dict):
        raise ValueError("a stage is a dict with a kind and its settings, not %r" % (stage,))
    method(str(stage.get("kind"))).check(stage)
