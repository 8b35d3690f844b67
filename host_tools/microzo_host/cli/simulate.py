"""`microzo simulate RECIPE...`: many training runs on this computer, side by side."""

import os

import click
import rich.console
import rich.table

from microzo_lab import accuracy, networks, runs

from .. import recipefile
from ..data import datasets
from .common import json_option, progress, report


@click.command("simulate")
@click.argument("recipes", nargs=-1, required=True)
@click.option("-c", "--corruption", "names", multiple=True, metavar="NAME[:SEVERITY]",
              help="Corruptions (default: the tuning ones), severity 3 unless given.")  # fmt: skip
@click.option("-s", "--seeds", default=1, show_default=True, type=click.IntRange(1),
              help="Seeds 0..SEEDS-1.")  # fmt: skip
@click.option("--set", "changes", multiple=True, metavar="STAGE.SETTING=VALUE",
              help="Change a setting of every recipe, such as spsa.shift=2, spsa.mask=random or "
                   "samples=64; a wrong name lists them all.")  # fmt: skip
@click.option("--data", default="fashion", show_default=True, type=click.Choice(datasets.NAMES))
@click.option("--test-images", default=2000, show_default=True, type=click.IntRange(1),
              help="At most so many.")  # fmt: skip
@click.option("-j", "--jobs", default=min(4, os.cpu_count() or 1), help="Runs at a time.")
@click.option("--dask", "scheduler", default="", metavar="ADDRESS",
              help="Run on the workers of a Dask scheduler, such as tcp://host:8786.")  # fmt: skip
@click.option("--cache", default=str(accuracy.BUILD / "simulate"), show_default=True,
              help="Folder of finished runs; an interrupted command goes on there.")  # fmt: skip
@json_option
def command(recipes, names, seeds, changes, data, test_images, jobs, scheduler, cache, json_file):
    """Train with each of RECIPES (names, or .json files) under corruptions, seed by seed.

    The same recipes as on a board, over the same C kernels: the same bits.
    """
    made = [runs.settings(recipe(name), changes) for name in recipes]
    shifts = [shift(name, data) for name in names] or networks.shifts(data).TUNING
    wanted = [
        runs.run_of(one, name, severity, seed, test_images, data)
        for one in made
        for name, severity in shifts
        for seed in range(seeds)
    ]
    with progress() as bars:
        task = bars.add_task("runs", total=len(wanted))
        found = runs.collect(
            wanted, cache, jobs, lambda run: bars.update(task, advance=1), scheduler
        )
        bars.update(task, description="before")
        before = zero_shot(shifts, test_images, data, cache, jobs)
    rows = [found[run] | {"before": before[run.corruption, run.severity]} for run in wanted]
    if json_file != "-":
        rich.console.Console().print(table(rows))
    report(rows, json_file)


def zero_shot(shifts, test_images, data, folder, processes):
    """{(corruption, severity): accuracy of the untrained model in per cent}, kept on disk."""
    kept = accuracy.Cache(folder)
    jobs = [accuracy.Job(*shift, 0, "zero_shot", test_images, data) for shift in shifts]
    missing = [job for job in jobs if kept.get(job) is None]
    for job, right in accuracy.side_by_side(_test, missing, processes):
        kept.put(job, right)
    return {(j.corruption, j.severity): round(100 * float(kept.get(j).mean()), 3) for j in jobs}


def _test(job):
    return job, accuracy.run(job)


def recipe(name):
    """A recipe by name (stages of several: realign+head), or from a .json file."""
    return recipefile.read(name) if name.endswith(".json") else runs.recipe_of(name)


def shift(text, data="fashion"):
    """(corruption, severity) of NAME or NAME:SEVERITY."""
    name, _, severity = text.partition(":")
    known = networks.shifts(data).NAMES
    if name not in (*known, accuracy.CLEAN):
        raise ValueError(f"unknown corruption {name!r}: choose one of {', '.join(known)}")
    if severity not in ("", *"12345"):
        raise ValueError(f"severity {severity!r} does not exist: choose 1 to 5")
    return name, int(severity or 3)


def table(rows):
    """Accuracy in per cent a corruption and recipe, before and after; the mean over seeds, the
    worst and the best seed."""
    made = rich.table.Table(
        box=None, pad_edge=False, caption="after: mean of the seeds; worst, best: of one seed"
    )
    for name in ("corruption", "recipe"):
        made.add_column(name, no_wrap=True)
    for name in ("before %", "after %", "worst", "best", "forwards", "RAM bytes"):
        made.add_column(name, justify="right")
    groups = {}
    for row in rows:
        key = f"{row['corruption']} {row['severity']}", row["recipe"]
        groups.setdefault(key, []).append(row)
    for (name, made_by), group in groups.items():
        values = [row["accuracy"] for row in group]
        made.add_row(
            name,
            made_by,
            f"{group[0]['before']:.2f}",
            *(f"{v:.2f}" for v in (sum(values) / len(values), min(values), max(values))),
            str(group[0]["forwards"]),
            str(group[0]["ram_bytes"]),
        )
    return made
