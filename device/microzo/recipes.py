"""Recipes as data: a dict that prints, and that a user may change before giving it to Trainer.

samples: how many are drawn; holdout: per cent of them kept from training for the guard;
stages, in order:
  realign  alpha 1..256 (256: the whole correction)
  head     exact gradient of the last dense layer: epochs, batch, decay (momentum 1 - 2^-decay,
           0: none), head_shift (halvings of the step that rate.py finds for the model)
  tail     the same with the last convolution, whose halvings are conv_shift
  spsa     steps, probes x samples a step, shift (negative: larger steps), first_shift (the
           same where no realign was kept before), clip, what (1 weights, 2 biases, 4 scales: add
           them), mode (1: 16-bit weights), eps_shift, sides (2: antithetic; 1: one clean loss for
           all probes of a step, which then share its samples), rule ("value", "sign", "spread":
           rules.py), schedule ("step", "cosine", "constant"), by_layer (1: every step perturbs
           one operator, in turn), gns (1: gradient-norm scaling)
  elastic  spsa of all but the head, with the exact gradient of the head: decay, head_shift
  node     epochs, batch, probes for each sample, eps (output LSBs), clip (Q12 nats), conv_shift
           (halvings of a step of one weight LSB), gns (1: gradient-norm scaling), train_head,
           head_shift, decay, mode
guard: "all" or "held", the samples that decide whether a stage is kept; "" keeps it unseen.
"""

from .rules import RULES
from .schedule import SCHEDULES

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
    "sides": 2,
    "rule": "value",
    "schedule": "step",
    "by_layer": 0,
    "gns": 0,
    "guard": "held",
}
_ELASTIC = dict(_SPSA, kind="elastic", head_shift=3, decay=3)
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
    "head_shift": 4,
    "decay": 3,
    "mode": 0,
    "gns": 0,
    "train_head": 1,
    "guard": "held",
}
_SCALES = dict(_SPSA, what=6)
_PMT_WEIGHTS = dict(_SPSA, sides=1, probes=25, samples=8, steps=80, by_layer=1, gns=1,
                    rule="spread", clip=1024, shift=2, first_shift=1)  # fmt: skip
_PMT_NODES = dict(_NODE, epochs=20, conv_shift=4, gns=1)
_STAGES = {
    "realign": _REALIGN,
    "head": _HEAD,
    "tail": _TAIL,
    "spsa": _SPSA,
    "elastic": _ELASTIC,
    "node": _NODE,
}

RECIPES = {
    "realign": {"holdout": 0, "stages": (_REALIGN,)},
    "head": {"holdout": 0, "stages": (_HEAD,)},
    "tail": {"holdout": 0, "stages": (_TAIL,)},
    "spsa": {"holdout": 0, "stages": (_SPSA,)},
    "elastic": {"holdout": 0, "stages": (_ELASTIC,)},
    "qzo-ff": {"holdout": 0, "stages": (_QZO_FF,)},
    "zoqo": {"holdout": 0, "stages": (_ZOQO,)},
    "node": {"holdout": 0, "stages": (_REALIGN, _NODE)},
    "scales": {"holdout": 0, "stages": (_SCALES,)},
    "pmt": {"holdout": 0, "stages": (_PMT_WEIGHTS, _PMT_NODES)},
    "forward_only": {"holdout": 0, "stages": (_REALIGN, _SPSA)},
    "default": {"holdout": 0, "stages": (_REALIGN, _TAIL)},
}


def recipe(name):
    """A fresh copy of the recipe of that name: {"name", "samples", "holdout", "stages": [...]}."""
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
    for key in ("name", "samples", "holdout", "stages"):
        if key not in made:
            raise ValueError("the recipe has no %r, start from microzo.recipe(name)" % key)
    if not 1 <= made["samples"] <= 4096 or not 0 <= made["holdout"] <= 90 or not made["stages"]:
        raise ValueError(
            "a recipe has 1..4096 samples, a holdout of 0..90 per cent and at least one stage"
        )
    for stage in made["stages"]:
        kind = stage.get("kind")
        if kind not in _STAGES:
            raise ValueError("unknown stage %r, there are %s" % (kind, ", ".join(sorted(_STAGES))))
        known = _STAGES[kind]
        for key in known:
            if key not in stage:
                raise ValueError("stage %s has no %r" % (kind, key))
        for key in stage:
            if key not in known:
                raise ValueError(
                    "stage %s has no setting %r, it has %s" % (kind, key, ", ".join(sorted(known)))
                )
        if kind == "node" and not (
            1 <= stage["probes"] <= 255
            and 1 <= stage["eps"] <= 127
            and 1 <= stage["clip"] <= 32767
            and 1 <= stage["batch"] <= 1024
        ):
            raise ValueError(
                "node takes 1..255 probes, eps 1..127, a clip of 1..32767, a batch of 1..1024"
            )
        if kind in ("spsa", "elastic"):
            _check_probes(kind, stage)
        if kind in ("head", "tail") and not 1 <= stage["batch"] <= 1024:
            raise ValueError("%s takes a batch of 1..1024 samples" % kind)


def _check_probes(kind, stage):
    if (
        not 1 <= stage["probes"] <= 64
        or not 1 <= stage["samples"]
        or stage["probes"] * stage["samples"] > 256
        or not 1 <= stage["clip"] <= 32767
    ):
        raise ValueError(
            "%s takes 1..64 probes, 256 samples a step in all at most, a clip of 1..32767" % kind
        )
    if stage["sides"] not in (1, 2) or kind == "elastic" and stage["sides"] == 1:
        raise ValueError("%s takes sides of %s" % (kind, "2" if kind == "elastic" else "1 or 2"))
    if kind == "elastic" and stage["by_layer"]:
        raise ValueError("elastic perturbs all operators together, by_layer must be 0")
    if stage["rule"] not in RULES or stage["schedule"] not in SCHEDULES:
        raise ValueError(
            "%s takes a rule of %s and a schedule of %s"
            % (kind, ", ".join(RULES), ", ".join(SCHEDULES))
        )
    if stage["schedule"] == "cosine" and stage["clip"] > 2047:
        raise ValueError("%s with a cosine schedule takes a clip of 1..2047" % kind)
