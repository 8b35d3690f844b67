"""`microzo simulate RECIPE...`: many training runs on this computer, side by side."""

import os

import click
import rich.console

from .. import place
from ..data import datasets
from ..report import tables
from ..simulate import networks, recipes, runs
from .common import json_option, progress, report


@click.command("simulate")
@click.argument("recipe_names", metavar="RECIPES...", nargs=-1, required=True)
@click.option("-c", "--corruption", "names", multiple=True, metavar="NAME[:SEVERITY]",
              help="Corruptions (default: the tuning ones), severity 3 unless given.")  # fmt: skip
@click.option("-s", "--seeds", default=1, show_default=True, type=click.IntRange(1),
              help="Seeds 0..SEEDS-1.")  # fmt: skip
@click.option("--set", "changes", multiple=True, metavar="STAGE.SETTING=VALUE",
              help="Change a setting of every recipe, such as spsa.shift=2, spsa.mask=random or "
                   "samples=64; `--set help` explains them all.")  # fmt: skip
@click.option("--data", default="fashion", show_default=True, type=click.Choice(datasets.NAMES))
@click.option("--test-images", default=2000, show_default=True, type=click.IntRange(1),
              help="At most so many.")  # fmt: skip
@click.option("-j", "--jobs", default=min(4, os.cpu_count() or 1), help="Runs at a time.")
@click.option("--dask", "scheduler", default="", metavar="ADDRESS",
              help="Run on the workers of a Dask scheduler, such as tcp://host:8786.")  # fmt: skip
@click.option("--cache", default=str(place.output("simulate")), show_default=True,
              help="Folder of finished runs; an interrupted command goes on there.")  # fmt: skip
@json_option
def command(
    recipe_names, names, seeds, changes, data, test_images, jobs, scheduler, cache, json_file
):
    """Train with each of RECIPES (names, or .json files) under corruptions, seed by seed.

    The same recipes as on a board, over the same C kernels: the same bits.
    """
    if "help" in changes:
        click.echo(recipes.described([recipes.read(name) for name in recipe_names]))
        return
    made = [recipes.settings(recipes.read(name), changes) for name in recipe_names]
    shifts = [networks.shift(name, data) for name in names] or networks.shifts(data).TUNING
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
        before = runs.zero_shot(shifts, test_images, data, cache, jobs)
    rows = [found[run] | {"before": before[run.corruption, run.severity]} for run in wanted]
    if json_file != "-":
        rich.console.Console().print(tables.simulated(rows))
    report(rows, json_file)
