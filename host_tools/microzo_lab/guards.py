"""Do the guards keep what helps? (`python -m microzo_lab guards cifar10 gauss:5 speckle:5`)

Unguarded, realign and then refilter: what either of them changes on the samples, with labels
(accuracy, loss) and without (information and entropy of the predictions), what the guards would
say of it, and what it truly changes on test images. `clean` is a corruption here. Prints a table
and writes build/study/guards-<data set>.json.
"""

import dataclasses
import json

import click

import microzo
from microzo.train import free_guard, guard
from microzo_host.cli.group import SeveralValues
from microzo_host.simulation import jobs, networks, recipes

from . import accuracy

STAGES = ("realign", "refilter")


@dataclasses.dataclass(frozen=True)
class Score:
    """A network after some stages: what the guards say, test accuracy in per cent."""

    labels: guard.Score
    free: guard.Score
    accuracy: float


def score(job, stages):
    """The Score after unguarded stages."""
    model = jobs.model_of(job)
    x, y = jobs.adaptation(job, job.samples)
    data = microzo.ArrayData(x, y)
    if stages:
        made = recipes.settings(recipes.recipe_of(stages[-1]), (f"samples={job.samples}",))
        made["stages"] = [dict(stage, guard="") for stage in made["stages"]]
        for _ in microzo.Trainer(model, made, seed=job.seed).run(data):
            pass
    index = range(job.samples)
    labels = guard.Guard(model, data, index, [int(label) for label in y], 0, job.samples)
    free = free_guard.FreeGuard(model, data, index)
    return Score(labels.score(), free.score(), 100 * float(jobs.right(job, model).mean()))


def rows(job):
    """One entry a stage: its changes, of accuracy in points, else in nats."""
    before = score(job, ())
    for at, stage in enumerate(STAGES):
        after = score(job, STAGES[: at + 1])
        labels, free = (before.labels, after.labels), (before.free, after.free)
        yield {
            "dataset": job.data, "corruption": job.corruption, "severity": job.severity,
            "seed": job.seed, "n": job.samples, "stage": stage,
            "accuracy": 100 * (labels[1].correct - labels[0].correct) / job.samples,
            "loss": (labels[1].loss - labels[0].loss) / 256 / job.samples,
            "information": (free[1].correct - free[0].correct) / 256,
            "entropy": (free[1].loss - free[0].loss) / 256,
            "kept": labels[1].better_than(labels[0], True),
            "kept_by_accuracy": labels[1].better_than(labels[0], False),
            "kept_without_labels": free[1].better_than(free[0], False),
            "test": after.accuracy - before.accuracy,
        }  # fmt: skip
        before = after


@click.command("guards", cls=SeveralValues)
@click.argument("data", type=click.Choice(list(networks.NAMES)))
@click.argument("corruptions", nargs=-1, required=True, metavar="NAME:SEVERITY...")
@click.option("--seeds", multiple=True, type=int, default=(0,), show_default=True)
@click.option("--samples", type=int, default=256, show_default=True)
@click.option("--test-images", type=int, default=1000, show_default=True)
def command(data, corruptions, seeds, samples, test_images):
    """Do the guards keep what helps? Prints a table, writes build/study/guards-DATA.json."""
    entries = []
    for text in corruptions:
        name, _, severity = text.partition(":")
        for seed in seeds:
            job = jobs.Job(name, int(severity or 0), seed, "guards", test_images, data, samples)
            entries += rows(job)
    show(entries)
    path = accuracy.BUILD / "study" / f"guards-{data}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(entries, indent=1) + "\n")


def show(found):
    """Prints the rows as a table."""
    click.echo(
        "corruption    seed stage     accuracy    loss  inform. entropy kept by-acc. free   test"
    )
    for row in found:
        yes = ["yes" if row[key] else "no"
               for key in ("kept", "kept_by_accuracy", "kept_without_labels")]  # fmt: skip
        click.echo(
            f"{row['corruption']}:{row['severity']:<{13 - len(row['corruption'])}}{row['seed']:3} "
            f"{row['stage']:9} {row['accuracy']:+8.1f} {row['loss']:+7.3f} "
            f"{row['information']:+8.3f} {row['entropy']:+7.3f} {yes[0]:4} {yes[1]:7} {yes[2]:4} "
            f"{row['test']:+6.1f}"
        )
