"""The study: recipes against zero-shot and back-propagation, as data and as a page.

`make study-quick` (10 minutes) or `make study` (hours; ``--full``) writes
build/study/accuracy.json and, from that file alone, a page with plots: study.md beside it, or
``--page FILE``. Finished runs are kept in build/study/runs, so an interrupted study goes on.
``--only cifar10`` runs and shows one data set. Only reported corruptions are used: nothing was
tuned on them. A data set whose files are not there is left out, with a line that says so.
"""

import importlib.util
import json
import pathlib

import click
import numpy as np
import rich.progress

from microzo_host.cli.group import SeveralValues
from microzo_host.simulation import jobs, networks, recipes, runs, store

from . import accuracy, page
from .parts import FULL, QUICK

Z95 = 1.96


def rows_of(part, folder, processes, with_torch, kept):
    """The rows of one part of the study (parts.py); kept: of the runs that are finished."""
    severity = dict(networks.reporting(part.data))
    base, wanted = [], {}
    for name in part.shifts:
        base.append(job(part, name, severity[name], 0, jobs.ZERO_SHOT))
        for seed in range(part.seeds):
            for yardstick in part.yardsticks if with_torch else ():
                base.append(job(part, name, severity[name], seed, yardstick))
            for recipe, changes, *label in part.recipes:
                made = recipes.settings(recipes.recipe_of(recipe), changes)
                label = label[0] if label else recipe
                run = runs.run_of(
                    made, name, severity[name], seed, part.test_images, part.data, label
                )
                wanted[run] = name, seed, label
    if kept:
        finished = accuracy.Results(folder)
        base = [j for j in base if finished.get(j) is not None]
        wanted = {run: at for run, at in wanted.items() if finished.get(run) is not None}
    beside = accuracy.collect(base, folder, processes)
    right = {(j.corruption, j.seed, j.recipe): bits for j, bits in beside.items()}
    columns = (*rich.progress.Progress.get_default_columns(), rich.progress.MofNCompleteColumn())
    with rich.progress.Progress(*columns) as bars:
        task = bars.add_task(f"{part.data} recipes", total=len(wanted))
        found = runs.collect(list(wanted), folder, processes, lambda run: bars.advance(task))
    if runs.failures(found):
        raise RuntimeError(f"runs of the study failed: {runs.failures(found)}")
    rows = []
    for run, (name, seed, label) in wanted.items():
        got = store.unpacked(found[run]["right"], part.test_images)
        rows.append(row(part, name, seed, label, found[run], got, right))
    for (name, seed, label), got in right.items():
        if label in accuracy.YARDSTICKS and label != "bp":
            nothing = {"samples": part.n, "forwards": None, "macs": None, "ram_bytes": None}
            rows.append(row(part, name, seed, label, nothing, got, right))
    return rows


def job(part, name, severity, seed, recipe):
    """The Job of a yardstick or of zero-shot."""
    n = jobs.Job.samples if recipe == jobs.ZERO_SHOT else part.n
    return jobs.Job(name, severity, seed, recipe, part.test_images, part.data, n)


def row(part, name, seed, label, costs, got, right):
    """One entry of accuracy.json; ``gain_low``: lower 95 % bound of the gain, in points."""
    zero, yardstick = right[name, 0, jobs.ZERO_SHOT], right.get((name, seed, "bp"))
    gain = got.astype(float) - zero
    return {
        "dataset": part.data,
        "network": networks.NAMES[part.data],
        "corruption": name,
        "n": costs["samples"],
        "seed": seed,
        "recipe": label,
        "forwards": costs["forwards"],
        "macs": costs["macs"],
        "ram_bytes": costs["ram_bytes"],
        "zero_shot": jobs.percent(zero),
        "accuracy": jobs.percent(got),
        "bp": None if yardstick is None else jobs.percent(yardstick),
        "gain_low": round(100 * (gain.mean() - Z95 * gain.std(ddof=1) / np.sqrt(len(gain))), 3),
        "test_images": part.test_images,
    }


@click.command("quick", cls=SeveralValues)
@click.option("--full", is_flag=True, help="All of it: hours.")
@click.option("--only", multiple=True, type=click.Choice(list(networks.NAMES)))
@click.option("--kept", is_flag=True, help="Run nothing, show what is finished.")
@click.option("--jobs", "processes", type=int, default=2, show_default=True)
@click.option("--no-bp", is_flag=True, help="Leave back-propagation out.")
@click.option("--out", type=click.Path(file_okay=False, path_type=pathlib.Path),
              default=accuracy.BUILD / "study")  # fmt: skip
@click.option("--page", "target", type=click.Path(dir_okay=False, path_type=pathlib.Path),
              help="default: study.md in the folder of --out")  # fmt: skip
def command(full, only, kept, processes, no_bp, out, target):
    """Recipes against zero-shot and back-propagation, as data and as a page."""
    with_torch = not no_bp and importlib.util.find_spec("torch") is not None
    if not with_torch:
        click.echo("back-propagation is left out: PyTorch is not installed or --no-bp was given")
    rows = []
    for part in FULL if full else QUICK:
        why = networks.missing(part.data)
        if why:
            click.echo(f"{part.data} is left out: {why}")
        elif not only or part.data in only:
            rows += rows_of(part, out / "runs", processes, with_torch, kept)
    file = out / "accuracy.json"
    out.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(rows, indent=0) + "\n")
    click.echo(f"written: {file}")
    target = target or out / "study.md"
    page.write(json.loads(file.read_text()), target)
    click.echo(f"written: {target}")
