"""Recipes as data: a dict that prints, and that a user may change before giving it to Trainer.

samples: how many are drawn; holdout: per cent of them kept from training for the guard;
stages, in order:
  realign  alpha 1..256 (256: the whole correction)
  head     exact gradient of the last dense layer: epochs, batch, decay (momentum 1 - 2^-decay,
           0: none), head_shift (halvings of the step that rate.py finds for the model)
  tail     the same with the last convolution, whose halvings are conv_shift
  spsa     steps, probes x samples a step, shift (negative: larger steps), first_shift (the
           same where no realign was kept before), clip, what (1 weights, 2 biases, 3 both),
           mode (1: 16-bit weights), eps_shift
guard: "all" or "held" (all, where none are held out): the samples that decide whether a stage is
kept; "" keeps it unseen.
"""

_REALIGN = {"kind": "realign", "alpha": 256, "guard": "all"}
_HEAD = {"kind": "head", "epochs": 20, "batch": 32, "head_shift": 3, "decay": 3, "guard": "held"}
_TAIL = dict(_HEAD, kind="tail", conv_shift=-1)
_SPSA = {
    "kind": "spsa",
    "steps": 156,
    "probes": 8,
    "samples": 8,
    "shift": 1,
    "first_shift": 0,
    "clip": 512,
    "what": 3,
    "mode": 0,
    "eps_shift": 0,
    "guard": "held",
}

RECIPES = {
    "realign": {"holdout": 0, "stages": (_REALIGN,)},
    "head": {"holdout": 0, "stages": (_HEAD,)},
    "tail": {"holdout": 0, "stages": (_TAIL,)},
    "spsa": {"holdout": 0, "stages": (_SPSA,)},
    "forward_only": {"holdout": 0, "stages": (_REALIGN, _SPSA)},
    "default": {"holdout": 0, "stages": (_REALIGN, _TAIL)},
}
_RANGES = {
    "alpha": (1, 256),
    "epochs": (1, 65535),
    "batch": (1, 1024),
    "decay": (0, 31),
    "conv_shift": (-64, 64),
    "head_shift": (-64, 64),
    "steps": (1, 1 << 20),
    "probes": (1, 64),
    "samples": (1, 256),
    "shift": (-14, 28),
    "first_shift": (-14, 28),
    "clip": (1, 32767),
    "what": (1, 3),
    "mode": (0, 1),
    "eps_shift": (0, 31),
}
LATER = ("node", "pmt", "qzo-ff", "elastic", "scales", "zoqo")


def recipe(name):
    """A fresh copy of the recipe of that name: {"name", "samples", "holdout", "stages": [...]}."""
    if name in LATER:
        raise ValueError(
            "recipe %r comes in a later version, there are %s" % (name, ", ".join(sorted(RECIPES)))
        )
    if name not in RECIPES:
        raise ValueError("unknown recipe %r, there are %s" % (name, ", ".join(sorted(RECIPES))))
    found = RECIPES[name]
    return {
        "name": name,
        "samples": found.get("samples", 256),
        "holdout": found["holdout"],
        "stages": [dict(stage) for stage in found["stages"]],
    }


def check(made):
    """ValueError if a recipe made or changed by the user cannot run."""
    known = {"realign": _REALIGN, "head": _HEAD, "tail": _TAIL, "spsa": _SPSA}
    for key in ("name", "samples", "holdout", "stages"):
        if key not in made:
            raise ValueError("the recipe has no %r, start from microzo.recipe(name)" % key)
    if not 1 <= made["samples"] <= 4096 or not 0 <= made["holdout"] <= 90 or not made["stages"]:
        raise ValueError(
            "a recipe has 1..4096 samples, a holdout of 0..90 per cent and at least one stage"
        )
    for stage in made["stages"]:
        kind = stage.get("kind")
        if kind not in known:
            raise ValueError("unknown stage %r, there are %s" % (kind, ", ".join(sorted(known))))
        for key in known[kind]:
            if key not in stage:
                raise ValueError("stage %s has no %r" % (kind, key))
        for key in stage:
            if key not in known[kind]:
                raise ValueError(
                    "stage %s has no setting %r, it has %s"
                    % (kind, key, ", ".join(sorted(known[kind])))
                )
            _check_value(kind, key, stage[key])
        if kind == "spsa":
            _check_step(stage)


def _check_value(kind, key, value):
    if key == "guard" and value not in ("all", "held", ""):
        raise ValueError('stage %s: guard is "all", "held" or "", not %r' % (kind, value))
    if key in _RANGES:
        low, high = _RANGES[key]
        if not isinstance(value, int) or not low <= value <= high:
            raise ValueError("stage %s: %s is %d..%d, not %r" % (kind, key, low, high, value))


def _check_step(stage):
    if stage["probes"] * stage["samples"] > 256:
        raise ValueError("spsa takes at most 256 samples a step, probes * samples is more")
    if stage["clip"] << max(0, -stage["shift"], -stage["first_shift"]) > 32767:
        raise ValueError(
            "spsa: clip * 2^-shift is at most 32767, take a larger shift or less clip"
        )
