"""The golden cases: every recipe, and every setting at least once. Words of settings are those of
golden_words.py. A case that kills a mutant (mutants.py) says so by its name."""

# of every stage that has them, unless a case says otherwise
SHORT = {"epochs": 2, "batch": 8, "steps": 10, "probes": 3, "each": 2}

CASES = []
SETTINGS_OF_RUN = ("layers", "seed", "board_id")


def case(
    name, recipe, model="small", *, samples=40, holdout=None, split=None, labels=True,
    repeat=0, run_steps=None, live=0, find_step=False, cut=0, stages=None, board=False,
    slow=False, **changes,
):  # fmt: skip
    """changes: of the last stage, or layers, seed, board_id of the trainer. stages: [(recipe,
    index, changes)] in place of the recipe's own. repeat: samples, made from those of the set.
    run_steps: of Trainer.run. live: single samples. cut: steps before the run is given up and
    resumed. board: also there; slow: not in the quick subset."""
    of_recipe = {"samples": samples}
    if holdout is not None:
        of_recipe["holdout"] = holdout
    if split is not None:
        of_recipe["split"] = split
    options = {key: changes.pop(key) for key in SETTINGS_OF_RUN if key in changes}
    options.setdefault("layers", "all")
    CASES.append({
        "name": name, "recipe": recipe, "model": model, "of_recipe": of_recipe, "labels": labels,
        "repeat": repeat, "steps": run_steps, "live": live, "find_step": find_step, "cut": cut,
        "stages": stages, "board": board, "slow": slow, "options": options, "changes": changes,
    })  # fmt: skip


_OPEN = {"guard": ""}
_W, _B, _S = "weights", "biases", "scales"

# every recipe
for _name in (
    "realign refilter head tail spsa elastic entropy qzo-ff zoqo node channel scales pmt "
    "forward_only default"
).split():
    case(_name, _name, board=True, layers="auto")
for _name in ("realign", "refilter", "tail", "channel", "spsa", "forward_only", "default"):
    case("demo-" + _name, _name, "demo", samples=32, board=_name in ("spsa", "default"),
         slow=_name == "channel", layers="auto")  # fmt: skip
for _name in "refilter head tail elastic entropy node channel pmt default".split():
    case("residual-" + _name, _name, "residual", samples=24,
         slow=_name in ("pmt", "node", "channel"))  # fmt: skip
for _name in ("realign", "head", "tail", "spsa", "node", "entropy"):
    case("clamped-" + _name, _name, "clamped", samples=32, board=_name == "tail")

# the draw and the order
case("draw-pool", "spsa", repeat=5000, samples=300, seed=77, board=True, **_OPEN)
case("draw-no-labels", "entropy", repeat=4500, samples=50, labels=False, seed=5)
case("draw-more-than-pool", "realign", "clamped", repeat=4100, samples=4096, slow=True, alpha=200)
case("draw-classes-used-up", "head", samples=55, seed=3, batch=16)
case("seed-0", "spsa", seed=0, **_OPEN)
case("seed-large", "tail", seed=(1 << 30) - 1, board_id=65535, **_OPEN)
case("holdout", "spsa", holdout=30, guard="held", board=True)
case("holdout-tail", "default", holdout=25, guard="held", samples=37)
case("last-layers", "spsa", layers="last2", **_OPEN)
case("given-layers", "forward_only", layers=[1, 4], **_OPEN)
case("cut", "default", cut=7, board=True)
case("cut-elastic", "elastic", cut=5, **_OPEN)

# realign and refilter
case("realign-half", "realign", alpha=100, guard="")
case("realign-many", "realign", "residual", repeat=240, samples=240, guard="", slow=True)
case("realign-bits", "realign", "residual", samples=60, guard="")
case("realign-free", "realign", labels=False, guard="free")
case("realign-unguarded", "realign", labels=False)
case("refilter-settings", "refilter", patches=5, ridge=5, alpha=150, guard="")
case("refilter-ridge", "refilter", patches=31, ridge=20, guard="", samples=9)
case("refilter-few", "refilter", "residual", patches=1, ridge=0, guard="", samples=10)
case("refilter-singular", "refilter", "residual", patches=2, ridge=20, guard="", samples=8)
case("refilter-no-labels", "refilter", labels=False, board=True)
case("refilter-no-labels-unguarded", "refilter", labels=False, guard="")

# recolor
case("recolor", "recolor", "colored", samples=32, layers="auto")
case("recolor-settings", "recolor", "colored", places=7, shrink=150, guard="")
case("recolor-few", "recolor", "colored", samples=3, places=1, shrink=1, guard="")
case("recolor-no-labels", "recolor", "colored", labels=False)
case("recolor-cut", "recolor", "colored", samples=20, guard="", cut=12)

# exact gradients
case("head-momentum", "head", "residual", epochs=4, decay=1, head_shift=-1, guard="")
case("head-no-momentum", "head", epochs=4, decay=0, head_shift=3, guard="")
case("head-large-batch", "head", batch=1000, epochs=3, guard="")
case("tail-shifts", "tail", conv_shift=2, head_shift=0, decay=2, epochs=4, guard="", board=True)
case("tail-residual-open", "tail", "residual", samples=40, epochs=3, guard="")
case("tail-clamped-open", "tail", "clamped", epochs=4, conv_shift=-1, guard="")
case("tail-many", "tail", "clamped", repeat=800, samples=400, run_steps=12, guard="")
case("tail-few", "tail", samples=7, batch=3, epochs=5, guard="")
case("tail-shift-low", "tail", conv_shift=-64, head_shift=-64, run_steps=3, guard="")
case("tail-shift-high", "tail", conv_shift=64, head_shift=64, run_steps=3, guard="")
case("tail-after-realign", "default", "clamped", stages=[
    ("realign", 0, {"guard": ""}), ("tail", 0, {"guard": "", "epochs": 3}),
])  # fmt: skip

# zeroth order
case("train-weights", "spsa", train=(_W,), wide=True, **_OPEN)
case("train-biases", "spsa", train=(_B,), shift=-2, first_shift=-2, **_OPEN)
case("train-scales", "spsa", train=(_S,), **_OPEN)
case("train-all", "spsa", train=(_W, _B, _S), shift=2, first_shift=2, board=True, **_OPEN)
case("wide", "spsa", wide=True, eps_shift=2, clip=2000, **_OPEN)
case("first-shift", "forward_only", shift=3, first_shift=-1, guard="")
case("first-shift-rolled-back", "forward_only", stages=[
    ("realign", 0, {"alpha": 1}), ("spsa", 0, {"guard": "", "shift": 3, "first_shift": -1}),
])  # fmt: skip
case("negative-shift", "spsa", shift=-3, first_shift=-3, **_OPEN)
case("large-shift", "spsa", shift=28, first_shift=28, schedule="cosine", norm_scaling="plain",
     **_OPEN)  # fmt: skip
case("clip", "spsa", clip=20, schedule="constant", **_OPEN)
case("samples-3", "spsa", each=3, probes=2, **_OPEN)
case("probes-many", "spsa", probes=17, **_OPEN)
for _rule in ("sign", "spread"):
    case("rule-" + _rule, "spsa", rule=_rule, clip=300, shift=3, first_shift=3, **_OPEN)
case("spread-residual", "spsa", "residual", samples=24, rule="spread", clip=700, shift=2,
     first_shift=2, probes=5, **_OPEN)  # fmt: skip
for _schedule in ("cosine", "constant"):
    case("schedule-" + _schedule, "spsa", schedule=_schedule, steps=33, **_OPEN)
case("schedule-step", "spsa", steps=20, first_shift=-1, **_OPEN)
case("cosine-negative", "spsa", schedule="cosine", shift=-2, first_shift=-2, steps=41, **_OPEN)
case("by-layer", "spsa", by_layer=1, norm_scaling="root", board=True, **_OPEN)
case("by-layer-plain", "spsa", by_layer=1, norm_scaling="plain", shift=-4, first_shift=-4, **_OPEN)
case("scaling-root", "spsa", norm_scaling="root", shift=-3, first_shift=-3, **_OPEN)
case("scaling-plain", "spsa", "residual", norm_scaling="plain", shift=-5, first_shift=-5, **_OPEN)
case("one-sided", "spsa", antithetic=False, **_OPEN)
case("one-sided-wide", "spsa", antithetic=False, wide=True, layers=[4], board=True, **_OPEN)
case("share", "spsa", share=1, **_OPEN)
case("share-dense", "spsa", share=1, layers=[4], board=True, **_OPEN)
case("between", "default", stages=[
    ("realign", 0, {}), ("tail", 0, {"guard": ""}),
    ("spsa", 0, {"train": (_W, _B, _S), "guard": ""}),
], layers=[0, 4])  # fmt: skip
case("elastic-settings", "elastic", decay=1, head_shift=-1, train=(_W,), wide=True, eps_shift=1,
     **_OPEN)  # fmt: skip
case("elastic-mask", "elastic", mask="channel", one_in=2, board=True, **_OPEN)
case("elastic-gauss", "elastic", direction="gauss", rows="qas", **_OPEN)

# settings that shape directions and updates
for _mask in ("random", "channel", "small", "large"):
    case("mask-" + _mask, "spsa", mask=_mask, one_in=4, shift=-3, first_shift=-3,
         board=_mask == "random", **_OPEN)  # fmt: skip
    case("mask-residual-" + _mask, "spsa", "residual", samples=20, mask=_mask, one_in=3, steps=4,
         shift=-3, first_shift=-3, **_OPEN)  # fmt: skip
case("mask-ten", "spsa", "demo", samples=20, mask="random", steps=3, shift=-3, first_shift=-3,
     slow=True, **_OPEN)  # fmt: skip
case("mask-by-layer", "spsa", mask="large", one_in=3, by_layer=1, norm_scaling="root", **_OPEN)
case("mask-one-sided", "spsa", mask="small", antithetic=False, **_OPEN)
for _rows in ("qas", "kernel"):
    case("rows-" + _rows, "spsa", rows=_rows, shift=-2, first_shift=-2, board=_rows == "qas",
         **_OPEN)  # fmt: skip
    case("rows-residual-" + _rows, "spsa", "residual", samples=20, steps=4, rows=_rows, shift=-2,
         first_shift=-2, **_OPEN)  # fmt: skip
for _round in ("nearest", "stochastic", "feedback"):
    case("round-" + _round, "spsa", round=_round, shift=-2, first_shift=-2,
         board=_round == "stochastic", **_OPEN)  # fmt: skip
case("round-mask", "spsa", round="nearest", mask="random", rows="kernel", shift=-3,
     first_shift=-3, **_OPEN)  # fmt: skip
case("gauss", "spsa", direction="gauss", board=True, **_OPEN)
case("gauss-fine", "spsa", direction="gauss", eps_shift=1, shift=-3, first_shift=-3, wide=True,
     probes=6, **_OPEN)  # fmt: skip
case("sign-fine", "spsa", direction="sign", eps_shift=2, **_OPEN)
case("guided", "spsa", guided=1, shift=-1, first_shift=-1, board=True, **_OPEN)
case("guided-far", "spsa", guided=1, shift=-4, first_shift=-4, clip=2047, probes=5, **_OPEN)
case("guided-cut", "spsa", guided=1, cut=4, **_OPEN)
case("sharp", "spsa", sharp=4, board=True, **_OPEN)
case("sharp-guided", "spsa", guided=1, sharp=3, direction="gauss", rows="qas", mask="random",
     probes=5, **_OPEN)  # fmt: skip
case("pick-gradient", "spsa", pick="gradient", top=2, layers="auto", samples=60, **_OPEN)
case("pick-gradient-residual", "spsa", "residual", pick="gradient", top=3, layers="auto",
     samples=20, **_OPEN)  # fmt: skip
case("pick-test", "spsa", pick="test", top=2, layers="auto", samples=60, **_OPEN)
case("pick-macs", "spsa", pick="gradient", macs=2100, layers="auto", **_OPEN)
case("pick-five", "spsa", "demo", pick="gradient", layers="auto", samples=48, steps=2, slow=True,
     **_OPEN)  # fmt: skip

# without labels
case("entropy-open", "entropy", guard="", stats=40, labels=False, board=True)
case("entropy-no-stats", "entropy", guard="", stats=0)
case("entropy-all", "entropy", train=(_W, _B, _S), guard="free", samples=3 * 8, probes=4)
case("entropy-residual-open", "entropy", "residual", guard="", stats=255, samples=20)
case("entropy-shaped", "entropy", guard="", mask="random", train=(_W, _S), one_in=3,
     direction="gauss", eps_shift=1, round="feedback", rows="kernel")  # fmt: skip
case("free-rolled-back", "entropy", stages=[
    ("entropy", 1, {"shift": -7, "first_shift": -7, "clip": 255, "train": (_W, _B, _S)}),
])  # fmt: skip
case("free-spsa", "spsa", guard="free")

# nodes
case("node-open", "node", guard="", conv_shift=2, board=True)
case("node-probes", "node", guard="", probes=5, eps=40, conv_shift=0, decay=1, head_shift=0)
case("node-no-head", "node", guard="", train_head=0, conv_shift=1, clip=300)
case("node-wide", "node", guard="", wide=True, norm_scaling="root", conv_shift=-2)
case("node-plain", "node", guard="", norm_scaling="plain", conv_shift=-4)
case("node-layer", "node", guard="", layers=[1], conv_shift=1)
case("node-channel", "node", guard="", per_channel=1, layers=[0], conv_shift=1, probes=3)
case("node-channel-residual", "node", "residual", guard="", per_channel=1, samples=16, probes=2,
     conv_shift=1)  # fmt: skip
case("node-shift-low", "node", guard="", conv_shift=-64, run_steps=2)
case("model-wise", "node", guard="", model_wise=1, norm_scaling="root", conv_shift=-1, board=True)
case("model-wise-channel", "node", guard="", model_wise=1, per_channel=1, conv_shift=1, clip=500)
case("split-number", "pmt", split=1, board=True)
case("split-zero", "pmt", split=0)
case("split-size-residual", "pmt", "residual", samples=16, split="size", slow=True)
case("split-model-wise", "pmt", split=1, model_wise=1)

# live samples, the step finder
case("live-spsa", "spsa", live=45, board=True)
case("live-one-sided", "spsa", live=17, antithetic=False)
case("live-head", "head", live=33)
case("live-tail", "tail", live=33, board=True)
case("live-elastic", "elastic", live=33)
case("live-realign", "realign", live=120)
case("live-entropy", "entropy", live=31, labels=False, stages=[("entropy", 1, {})])
case("live-node", "node", live=33, stages=[("node", 1, {})])
case("find-step", "spsa", find_step=True, first_shift=20, shift=20, board=True, **_OPEN)
case("find-step-forward-only", "forward_only", find_step=True, samples=60)
case("find-step-scaled", "spsa", "clamped", find_step=True, norm_scaling="root", **_OPEN)

# guards at their limits
case("guard-same", "spsa", shift=28, first_shift=28, clip=1, board=True)
case("guard-loss-alone", "spsa", shift=-1, first_shift=-1, seed=3, guard="all")
case("guard-correct-alone", "spsa", shift=-1, first_shift=-1, seed=2, guard="all")
case("guard-strict", "refilter", "residual", seed=4, samples=12)
case("node-shift-high", "node", guard="", conv_shift=64, head_shift=64, run_steps=2)
case("mask-scaling", "spsa", "residual", samples=20, mask="random", one_in=30, steps=2,
     norm_scaling="plain", shift=-5, first_shift=-5, **_OPEN)  # fmt: skip

# settings at which a formula decides otherwise than its mutant
case("holdout-odd", "spsa", samples=33, holdout=30, guard="held")
case("realign-bits-62", "realign", "residual", repeat=80, samples=80, guard="")
case("refilter-rank", "refilter", "residual", patches=1, ridge=20, guard="", samples=6)
case("by-layer-scales", "spsa", by_layer=1, norm_scaling="plain", train=(_B, _S), shift=-1,
     first_shift=-1, **_OPEN)  # fmt: skip
case(
    "entropy-unaligned",
    "entropy",
    stages=[
        (
            "entropy",
            1,
            {"guard": "", "stats": 100, "train": (_W, _B, _S), "shift": -3, "first_shift": -3},
        )
    ],
)
case("find-step-clip", "spsa", find_step=True, clip=10, **_OPEN)
case("find-step-plain", "spsa", find_step=True, norm_scaling="plain", clip=2000, **_OPEN)
for _model in ("small", "residual", "clamped"):
    for _top in (1, 2):
        case("pick-%s-%d" % (_model, _top), "spsa", _model, pick="gradient", top=_top,
             layers="auto", samples=20, steps=3, seed=_top, **_OPEN)  # fmt: skip
case("split-size-close", "pmt", "residual", samples=12, split="size", stages=[
    ("pmt", 0, {"probes": 1, "each": 8, "antithetic": False, "steps": 3, "guard": ""}),
    ("pmt", 1, {"batch": 1, "probes": 8, "epochs": 1, "guard": ""}),
])  # fmt: skip
for _batch in (2, 3, 5, 6, 7):
    case("tail-batch-%d" % _batch, "tail", "residual", samples=20, batch=_batch, run_steps=3,
         guard="")  # fmt: skip
for _seed in (1, 2, 3):
    case("entropy-far-%d" % _seed, "entropy", "residual", samples=12, seed=_seed, stages=[
        ("entropy", 1, {"guard": "", "stats": 255, "train": (_W, _B, _S), "shift": -6,
                        "first_shift": -6, "clip": 400, "schedule": "constant"}),
    ])  # fmt: skip
for _kind in ("root", "plain"):
    case("find-step-residual-" + _kind, "spsa", "residual", samples=12, find_step=True, clip=2047,
         norm_scaling=_kind, probes=1, rule="sign", **_OPEN)  # fmt: skip

# pieces that go together since stages are composed
case("entropy-one-sided", "entropy", antithetic=False, stats=100, shift=-3, first_shift=-3,
     board=True, **_OPEN)  # fmt: skip
case("entropy-share", "entropy", share=1, stats=100, shift=-3, first_shift=-3, **_OPEN)
case("elastic-share", "elastic", share=1, **_OPEN)
case("elastic-one-sided", "elastic", antithetic=False, **_OPEN)
case("elastic-guided", "elastic", guided=1, sharp=2, mask="random", cut=4, **_OPEN)
