"""Recipes as data: a dict that prints, and that a user may change before giving it to Trainer.

samples: how many are drawn; holdout: per cent of them kept from training for the guard;
split: (may be left out) which operators spsa and node stages share: "size", or the first one of
those that node trains (split.py);
stages, in order:
  realign  alpha 1..256 (256: the whole correction); starts from the file's scales and biases
  refilter the first convolution's filters by the covariance of the input's patches, then realign
           again: patches a sample, ridge (halvings of the mean variance that is added), alpha;
           starts from the file's filters: what was trained there before is lost
  head     exact gradient of the last dense layer: epochs, batch, decay (momentum 1 - 2^-decay,
           0: none), head_shift (halvings of the step that rate.py finds for the model)
  tail     the same with the last convolution, whose halvings are conv_shift
  spsa     steps, probes x samples a step, shift (negative: larger steps), first_shift (the
           same where no realign or refilter was kept before), clip, what (1 weights, 2 biases, 4
           scales: add them), mode (1: 16-bit weights), eps_shift, sides (2: antithetic; 1: one
           clean loss for all probes of a step, which then share its samples), rule ("value",
           "sign", "spread": rules.py), schedule ("step", "cosine", "constant"), by_layer (1:
           every step perturbs one operator, in turn), gns (gradient-norm scaling, 1: its root, 2:
           plain)
  elastic  spsa of all but the head, with the exact gradient of the head: decay, head_shift
  entropy  spsa without labels, on the entropy of the predictions and the mismatch of the last
           features' statistics, which weighs `stats` sixteenths; sides 2
  node     epochs, batch, probes for each sample, eps (output LSBs), clip (Q12 nats), conv_shift
           (halvings of a step of one weight LSB), gns (as for spsa), train_head,
           head_shift, decay, mode, model_wise (1: the outputs of all chosen operators are
           perturbed in one pair of passes and all of them learn from it; 0: those of one),
           per_channel (1: all positions of a channel are moved by the same sign)
spsa, elastic and entropy may also have (options.py; left out, they are off)
  share     1: all probes of a step see the same samples, as with sides 1 (spsa)
  mask      which weights are perturbed and moved: "random" (one of every `one_in`), "channel" (one
            output channel of every `one_in`), "small", "large" (1 / one_in, by |weight|);
            one_in 2..255, 10 if left out
  direction "sign" or "gauss"; either makes eps_shift (at most 8, or 6) work with 8-bit weights,
            too
  rows      a factor of the step for every channel: "qas", "kernel"
  round     weights after every step: "nearest", "stochastic" (whole ones), "feedback" (the rest
            fades)
  guided    1: the first probe looks along the last step; sharp: probes around a point that many
            quarters of a perturbation against the last step
  pick      "gradient", "test": chooses the operators before the run (picker.py); top: at most
            that many, 5 if left out; macs: at most that many a pass, 0: any
guard: "all" or "held" (all, where none are held out): the samples that decide whether a stage is
kept; "free": all, without their labels (freeguard.py); "" keeps it unseen.
"""

from ..zo.rules import RULES
from ..zo.schedule import SCHEDULES

_REALIGN = {"kind": "realign", "alpha": 256, "guard": "all"}
_REFILTER = {"kind": "refilter", "patches": 16, "ridge": 12, "alpha": 256, "guard": "all"}
_HEAD = {"kind": "head", "epochs": 20, "batch": 32, "head_shift": 0, "decay": 3, "guard": "held"}
_TAIL = dict(_HEAD, kind="tail", head_shift=1, conv_shift=0)
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
    "sides": 2,
    "rule": "value",
    "schedule": "step",
    "by_layer": 0,
    "gns": 0,
    "guard": "held",
}
_ELASTIC = dict(_SPSA, kind="elastic", head_shift=1, decay=3)
_ENTROPY = dict(_SPSA, kind="entropy", what=6, stats=8, guard="free")
_QZO_FF = dict(_SPSA, mode=1, rule="sign", probes=8, samples=8, clip=32, shift=0, first_shift=0)
_ZOQO = dict(_SPSA, rule="sign", probes=1, samples=64, clip=256, shift=0, first_shift=0,
             schedule="constant")  # fmt: skip
_NODE = {
    "kind": "node",
    "epochs": 40,
    "batch": 64,
    "probes": 8,
    "eps": 16,
    "clip": 8192,
    "conv_shift": 6,
    "head_shift": 1,
    "decay": 3,
    "mode": 0,
    "gns": 0,
    "train_head": 1,
    "model_wise": 0,
    "per_channel": 0,
    "guard": "held",
}
_CHANNEL = dict(_NODE, epochs=20, batch=32, probes=64, eps=4, conv_shift=5, per_channel=1)
_SCALES = dict(_SPSA, what=6)
_PMT_WEIGHTS = dict(_SPSA, sides=1, probes=25, samples=8, steps=80, by_layer=1, gns=1,
                    rule="spread", clip=1024, shift=2, first_shift=1)  # fmt: skip
_PMT_NODES = dict(_NODE, epochs=20, conv_shift=9, gns=1)
_STAGES = {
    "realign": _REALIGN,
    "refilter": _REFILTER,
    "head": _HEAD,
    "tail": _TAIL,
    "spsa": _SPSA,
    "elastic": _ELASTIC,
    "entropy": _ENTROPY,
    "node": _NODE,
}

RECIPES = {
    "realign": {"holdout": 0, "stages": (_REALIGN,)},
    "refilter": {"holdout": 0, "stages": (_REALIGN, _REFILTER)},
    "head": {"holdout": 0, "stages": (_HEAD,)},
    "tail": {"holdout": 0, "stages": (_TAIL,)},
    "spsa": {"holdout": 0, "stages": (_SPSA,)},
    "elastic": {"holdout": 0, "stages": (_ELASTIC,)},
    "entropy": {"holdout": 0, "stages": (dict(_REALIGN, guard="free"), _ENTROPY)},
    "qzo-ff": {"holdout": 0, "stages": (_QZO_FF,)},
    "zoqo": {"holdout": 0, "stages": (_ZOQO,)},
    "node": {"holdout": 0, "stages": (_REALIGN, _NODE)},
    "channel": {"holdout": 0, "stages": (_REALIGN, _REFILTER, _CHANNEL)},
    "scales": {"holdout": 0, "stages": (_SCALES,)},
    "pmt": {"holdout": 0, "split": "size", "stages": (_PMT_WEIGHTS, _PMT_NODES)},
    "forward_only": {"holdout": 0, "stages": (_REALIGN, _REFILTER, _SPSA)},
    "default": {"holdout": 0, "stages": (_REALIGN, _REFILTER, _TAIL)},
}
_RANGES = {
    "alpha": (1, 256),
    "patches": (1, 31),
    "ridge": (0, 20),
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
    "what": (1, 7),
    "mode": (0, 1),
    "eps_shift": (0, 31),
    "eps": (1, 127),
    "sides": (1, 2),
    "share": (0, 1),
    "by_layer": (0, 1),
    "gns": (0, 2),
    "stats": (0, 255),
    "train_head": (0, 1),
    "model_wise": (0, 1),
    "per_channel": (0, 1),
}
OPTIONAL = (  # of spsa, elastic and entropy
    "share", "mask", "one_in", "direction", "rows", "round", "guided", "sharp", "pick", "top",
    "macs",
)  # fmt: skip
_NAMES = {"guard": ("all", "held", "free", ""), "rule": RULES, "schedule": SCHEDULES}


def recipe(name):
    """A fresh copy of the recipe of that name: {"name", "samples", "holdout", "stages": [...]}."""
    if name not in RECIPES:
        raise ValueError("unknown recipe %r, there are %s" % (name, ", ".join(sorted(RECIPES))))
    found = RECIPES[name]
    made = {
        "name": name,
        "samples": found.get("samples", 256),
        "holdout": found["holdout"],
        "stages": [dict(stage) for stage in found["stages"]],
    }
    if "split" in found:
        made["split"] = found["split"]
    return made


def check(made):
    """ValueError if a recipe made or changed by the user cannot run."""
    if not isinstance(made, dict):
        raise ValueError("a recipe is a dict, start from microzo.recipe(name)")
    for key in made:
        if key not in ("name", "samples", "holdout", "stages", "split"):
            raise ValueError("a recipe has no %r: is it a setting of one of its stages?" % key)
    for key in ("name", "samples", "holdout", "stages"):
        if key not in made:
            raise ValueError("the recipe has no %r, start from microzo.recipe(name)" % key)
    for key, low, high in (("samples", 1, 4096), ("holdout", 0, 90)):
        if not isinstance(made[key], int) or not low <= made[key] <= high:
            raise ValueError("%s of a recipe is %d..%d, not %r" % (key, low, high, made[key]))
    if not isinstance(made["stages"], (list, tuple)) or not made["stages"]:
        raise ValueError("stages of a recipe is a list of at least one stage")
    split = made.get("split", "size")
    if split != "size" and (not isinstance(split, int) or not 0 <= split <= 255):
        raise ValueError('split is "size" or the number of an operator, not %r' % (split,))
    for stage in made["stages"]:
        if not isinstance(stage, dict):
            raise ValueError("a stage is a dict with a kind and its settings, not %r" % (stage,))
        kind = str(stage.get("kind"))
        if kind not in _STAGES:
            raise ValueError("unknown stage %s, there are %s" % (kind, ", ".join(sorted(_STAGES))))
        known = _STAGES[kind]
        for key in known:
            if key not in stage:
                raise ValueError("stage %s has no %r" % (kind, key))
        for key in stage:
            if key not in known and not _optional(kind, key):
                raise ValueError(
                    "stage %s has no setting %r, it has %s" % (kind, key, ", ".join(keys(kind)))
                )
            _check_value(kind, key, stage[key])
        _check_options(kind, stage, known)
        if "sides" in stage:
            _check_step(kind, stage)
    if "split" in made and any(stage.get("pick") for stage in made["stages"]):
        raise ValueError("split and pick both choose the operators, take one of them")


def keys(kind):
    """Names of the settings of a kind of stage, those that may be left out among them."""
    found = [key for key in _STAGES[kind] if key != "kind"]
    return sorted(found + list(OPTIONAL if "sides" in found else ()))


def _optional(kind, key):
    return "sides" in _STAGES[kind] and key in OPTIONAL


def _check_options(kind, stage, known):
    found = [key for key in stage if key not in known and _optional(kind, key)]
    if kind != "entropy" and found in ([], ["share"]):
        return
    from . import options

    for key in found:
        _check_value(kind, key, stage[key], options.NAMES, options.RANGES)
    options.check(kind, stage)


def _check_value(kind, key, value, names=_NAMES, ranges=_RANGES):
    if key in names and value not in names[key]:
        raise ValueError(
            "stage %s: %s is %s, not %r"
            % (kind, key, " or ".join('"%s"' % name for name in names[key]), value)
        )
    if key in ranges:
        low, high = ranges[key]
        if not isinstance(value, int) or not low <= value <= high:
            raise ValueError("stage %s: %s is %d..%d, not %r" % (kind, key, low, high, value))


def _check_step(kind, stage):
    if stage["probes"] * stage["samples"] > 256:
        raise ValueError("%s takes at most 256 samples a step, probes * samples is more" % kind)
    if stage["clip"] << max(0, -stage["shift"], -stage["first_shift"]) > 32767:
        raise ValueError(
            "%s: clip * 2^-shift is at most 32767, take a larger shift or less clip" % kind
        )
    if stage["schedule"] == "cosine" and stage["clip"] > 2047:
        raise ValueError("%s with a cosine schedule takes a clip of 1..2047" % kind)
    if kind != "spsa" and stage.get("share"):
        raise ValueError("%s: share is for spsa" % kind)
    if kind == "entropy" and stage["sides"] == 1:
        raise ValueError("entropy is antithetic: sides 2")
    if kind == "elastic" and (stage["sides"] == 1 or stage["by_layer"]):
        raise ValueError("elastic is antithetic over all operators: sides 2, by_layer 0")
