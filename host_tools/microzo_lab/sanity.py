"""Do the papers' own findings appear here, in direction? (`python -m microzo_lab sanity`)

Fashion-MNIST, demo network, 256 labelled samples, no guard, corruptions that no setting was tuned
on. Writes build/study/sanity.json: for every claim its variants with accuracy (mean and standard
deviation over seeds and corruptions), the loss on the training samples before and after, and
whether the claim holds. Runs that are on disk are not made again. With --settings, a table of the
stages' settings instead (host_tools/microzo_lab/notes/methods.md).
"""

import dataclasses
import functools
import json
import pathlib
import statistics

import click
import numpy as np
import rich.progress

import microzo
from microzo_host.cli.group import SeveralValues
from microzo_host.data import demonet
from microzo_host.simulation import jobs, recipes, runs, store

from . import accuracy

CORRUPTIONS = ("impulse", "rotate_fixed")
SEVERITY = 3
SEEDS = (0, 1)
TEST_IMAGES = 2000
SAMPLES = 256


@dataclasses.dataclass(frozen=True)
class Variant:
    """``recipe``: JSON of a recipe; ``layers`` as for a Trainer."""

    label: str
    recipe: str
    layers: str = "auto"


@dataclasses.dataclass(frozen=True)
class Trial(runs.Run):
    """A run of a variant."""

    layers: str = "auto"


def variant(label, name="spsa", split=None, nodes=None, **changes):
    """A variant of a recipe: ``changes`` of its spsa stages, ``nodes`` of its node stages."""
    made = microzo.recipe(name)
    made["samples"] = SAMPLES
    if split is not None:
        made["split"] = split
    for stage in made["stages"]:
        stage["guard"] = ""
        if stage["kind"] == "spsa":
            stage.update(changes)
        elif stage["kind"] == "node":
            stage.update(nodes or {})
    return Variant(label, json.dumps(made, sort_keys=True))


@functools.cache
def halvings_without_scaling():
    """log2 of 1 / s_w^2, mean over the channels: what a step loses without it."""
    scales = [
        np.abs(layer.weight.reshape(len(layer.weight), -1)).max(1) / 127
        for layer in demonet.pretrained("fashion").layers
        if layer.weight is not None
    ]
    return round(float(-2 * np.log2(np.maximum(1e-6, np.concatenate(scales))).mean()))


# The layer-wise weight stage of `pmt`; 500 steps of it take the passes of all of `pmt`.
_BY_LAYER = {"antithetic": 0, "probes": 25, "samples": 8, "by_layer": 1, "rule": "spread",
             "norm_scaling": "root", "clip": 1024, "shift": 2, "first_shift": 1}  # fmt: skip
_LONG = {"steps": 500}


def claims():
    """{claim: (what the paper says, variants, test of the means)}."""
    lost = halvings_without_scaling()
    whole = {"train": ("weights",), "rule": "spread", "shift": 3, "first_shift": 3}
    return {
        "quantization-aware scaling": (
            "without it the loss stalls",
            [
                variant("with", factors="qas", round="nearest"),
                variant(
                    f"without: 1/s^2 = 2^{lost} missing", round="nearest",
                    shift=min(28, 1 + lost), first_shift=min(28, lost), train=("weights",),
                ),
                variant("uniform over the channels of a layer", round="nearest"),
            ],
            lambda m: m[0]["loss_after"] < 0.8 * m[0]["loss_before"]
            and abs(m[1]["loss_after"] - m[1]["loss_before"]) < 0.01,
        ),
        "gradient-norm scaling": (
            "without it training is far slower",
            [
                variant("with", **_BY_LAYER),
                variant("without", **{**_BY_LAYER, "norm_scaling": ""}),
                variant("without, steps of an eighth",
                        **{**_BY_LAYER, "norm_scaling": "", "shift": 5, "first_shift": 4}),
            ],
            lambda m: m[1]["loss_after"] > m[0]["loss_after"] + 0.05,
        ),
        "weights and nodes": (
            "the mix is at least as good as either, whole-model weight perturbation is worst",
            [
                variant("mix by size", "pmt", split="size"),
                variant("mix by size, nodes together", "pmt", split="size",
                        nodes={"model_wise": 1}),
                variant("mix by the block threshold, operator 5", "pmt", split=5),
                variant("nodes, layer by layer", "pmt", split=0),
                variant("nodes, all layers together", "pmt", split=0,
                        nodes={"conv_shift": 7, "model_wise": 1}),
                variant("weights, layer by layer", **_BY_LAYER, **_LONG),
                variant("weights, whole model", **{**_BY_LAYER, "by_layer": 0}, **_LONG),
            ],
            lambda m: max(v["accuracy"] for v in m[:3])
            >= max(v["accuracy"] for v in m[3:]) - 0.5
            and m[-1]["accuracy"] == min(v["accuracy"] for v in m),
        ),
        "perturbations below one LSB": (
            "8-bit weights lose the signal, 16-bit weights keep it",
            [
                variant("8 bits, whole LSBs", **whole, round="nearest"),
                variant("8 bits, a sixteenth", **whole, round="nearest", direction="sign",
                        eps_shift=4),
                variant("16 bits, a sixteenth", **whole, wide=1, eps_shift=4),
            ],
            lambda m: abs(m[1]["accuracy"] - m[1]["zero_shot"]) < 1
            and m[2]["accuracy"] > m[2]["zero_shot"] + 5,
        ),
        "sparse update": (
            "90 % sparse costs at most 2 points",
            [variant("all weights"), variant("one of 10", mask="random")],
            lambda m: m[1]["accuracy"] >= m[0]["accuracy"] - 2,
        ),
    }  # fmt: skip


def settings():
    """Variants of the settings of zeroth-order stages, to be looked at, not tested."""
    return [
        variant("spsa"),
        variant("spsa, share", share=1),
        variant("spsa, direction gauss", direction="gauss"),
        variant("spsa, rows qas", factors="qas"),
        variant("spsa, rows kernel", factors="kernel"),
        variant("spsa, round nearest", round="nearest"),
        variant("spsa, round stochastic", round="stochastic"),
        variant("spsa, round feedback", round="feedback"),
        variant("spsa, guided", guided=1),
        variant("spsa, sharp 4", sharp=4),
        variant("spsa, mask random", mask="random"),
        variant("spsa, mask channel", mask="channel"),
        variant("spsa, mask small", mask="small"),
        variant("spsa, mask large", mask="large"),
        variant("spsa, pick gradient", pick="gradient"),
        variant("spsa, pick test", pick="test"),
        variant("pmt", "pmt"),
        variant("pmt, rows qas", "pmt", factors="qas"),
        variant("entropy", "entropy"),
    ]


def changed(variants, changes):
    """Those of the variants that know the settings, with them changed (``node.conv_shift=7``)."""
    found = []
    for made in variants:
        recipe = json.loads(made.recipe)
        if all(
            change.split(".")[0] in {s["kind"] for s in recipe["stages"]} for change in changes
        ):
            text = json.dumps(recipes.settings(recipe, changes), sort_keys=True)
            found.append(dataclasses.replace(made, recipe=text))
    return found


def measure(trial):
    """Accuracies in per cent and losses in nats of one run."""
    model = jobs.model_of(trial)
    samples = microzo.ArrayData(*jobs.adaptation(trial, SAMPLES))

    def score():
        return 100 * float(jobs.right(trial, model).mean())

    zero, before = score(), model.evaluate(samples).loss
    recipe, seed = json.loads(trial.made), trial.seed + 1
    trainer = microzo.Trainer(model, recipe, layers=trial.layers, seed=seed)
    warnings = {step.warning for step in trainer.run(samples)} - {""}
    return {
        "zero_shot": zero, "accuracy": score(), "loss_before": before,
        "loss_after": model.evaluate(samples).loss, "warnings": sorted(warnings),
    }  # fmt: skip


def kept(made, corruption, seed, test_images, folder):
    """``measure`` of a variant, or what is on disk of it."""
    name = json.loads(made.recipe)["name"]
    trial = Trial(
        corruption, SEVERITY, seed, name, test_images, "fashion", SAMPLES, made.recipe, made.layers
    )
    results = store.Store(folder)
    if results.get(trial) is None:
        results.put(trial, measure(trial))
    return results.get(trial)


def summary(made, results):
    """Means over the runs of a variant."""
    mean = {
        key: round(statistics.fmean(r[key] for r in results), 3)
        for key in ("zero_shot", "accuracy", "loss_before", "loss_after")
    }
    gains = [r["accuracy"] - r["zero_shot"] for r in results]
    return {
        "variant": made.label, "runs": len(results), **mean,
        "gain_sd": round(statistics.stdev(gains), 3) if len(gains) > 1 else None,
        "warnings": sorted({w for r in results for w in r["warnings"]}),
        "recipe": json.loads(made.recipe),
    }  # fmt: skip


@click.command("sanity", cls=SeveralValues)
@click.option("--seeds", multiple=True, type=int, default=SEEDS, show_default=True)
@click.option("--corruptions", multiple=True, default=CORRUPTIONS, show_default=True)
@click.option("--test-images", type=int, default=TEST_IMAGES, show_default=True)
@click.option("--claims", "words", multiple=True,
              help="Words of the claims to test; all if left out.")  # fmt: skip
@click.option("--settings", "as_table", is_flag=True,
              help="A table of the stages' settings in their place.")  # fmt: skip
@click.option("--set", "changes", multiple=True, metavar="STAGE.SETTING=VALUE",
              help="Changes of every variant that has such a stage; the others are left "
                   "out.")  # fmt: skip
@click.option("--out", type=click.Path(dir_okay=False, path_type=pathlib.Path),
              default=accuracy.BUILD / "study/sanity.json")  # fmt: skip
def command(seeds, corruptions, test_images, words, as_table, changes, out):
    """Do the papers' own findings appear here, in direction?"""
    looked_at = {"settings": ("what each does", settings(), None)} if as_table else claims()
    runs_of = [(c, s) for s in seeds for c in corruptions]
    rows = []
    with rich.progress.Progress() as bars:
        for claim, (says, variants, holds) in looked_at.items():
            if words and not any(word in claim for word in words):
                continue
            variants = changed(variants, changes)
            task = bars.add_task(claim, total=len(variants) * len(runs_of))
            means = []
            for made in variants:
                results = []
                for corruption, seed in runs_of:
                    folder = out.parent / "sanity"
                    results.append(kept(made, corruption, seed, test_images, folder))
                    bars.advance(task)
                means.append(summary(made, results))
            judged = not (changes or as_table)
            rows.append({
                "claim": claim, "says": says, "changed": list(changes),
                "holds": bool(holds(means)) if judged else None, "variants": means,
                "corruptions": list(corruptions), "severity": SEVERITY,
                "seeds": list(seeds), "test_images": test_images,
            })  # fmt: skip
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(rows, indent=1) + "\n")
    show(rows)


def show(rows):
    """Prints the claims, whether they hold, and their variants."""
    verdicts = {None: "", True: ": holds", False: ": DOES NOT HOLD"}
    for row in rows:
        click.echo(f"{row['claim']}: {row['says']}{verdicts[row['holds']]}")
        for v in row["variants"]:
            click.echo(
                f"  {v['variant']:45} {v['zero_shot']:5.1f} -> {v['accuracy']:5.1f}"
                f"  loss {v['loss_before']:.3f} -> {v['loss_after']:.3f} {' '.join(v['warnings'])}"
            )
