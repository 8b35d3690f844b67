"""`microzo simulate RECIPE...`: many training runs on this computer, side by side."""

import os
import pathlib

import click
import rich.console

from .. import place
from ..data import datasets
from ..report import sweeps as pictures
from ..report import tables
from ..simulation import cluster as clusters
from ..simulation import own as owned
from ..simulation import recipes, results, runs
from ..simulation import sweep as sweeps
from .common import json_option, progress, refuse_other, report, say, write_new

PATH = click.Path(exists=True, dir_okay=False)
PAIR = {"nargs": 2, "type": PATH, "metavar": "X Y"}


def _seeds(ctx, option, text):
    try:
        return sweeps.seeds(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command("simulate")
@click.argument("recipe_names", metavar="RECIPES...", nargs=-1, required=True)
@click.option("--model", type=PATH, help="Your own model, with --train and --test.")
@click.option("--train", help="Samples and labels (.npy) to train on.", **PAIR)
@click.option("--test", help="Samples and labels to test on.", **PAIR)
@click.option("--data", default="fashion", show_default=True, type=click.Choice(datasets.NAMES),
              help="Without --model: a data set, with its network.")  # fmt: skip
@click.option("-c", "--corruption", "names", multiple=True, metavar="NAME[:SEVERITY]",
              help="Corruptions, severity 3 unless given; `clean` is none. Without -c a data set "
                   "has its tuning ones, your own data none.")  # fmt: skip
@click.option("-s", "--seeds", default="1", show_default=True, metavar="SEEDS", callback=_seeds,
              help="How many (3 is 0,1,2), or which: 0,5,7 or 4-6.")  # fmt: skip
@click.option("--set", "changes", multiple=True, metavar="STAGE.SETTING=VALUE",
              help="Change a setting of every recipe, such as spsa.shift=2, spsa.mask=random or "
                   "samples=64; `--set help` explains them all.")  # fmt: skip
@click.option("--test-images", default=2000, show_default=True, type=click.IntRange(1),
              help="At most so many.")  # fmt: skip
@click.option("-j", "--jobs", default=min(4, os.cpu_count() or 1), help="Runs at a time.")
@click.option("--dask", "scheduler", default="", metavar="ADDRESS",
              help="Run on the workers of a Dask scheduler, such as tcp://host:8786.")  # fmt: skip
@click.option("--dask-ca", default="", metavar="FILE", help="TLS: the authority's certificate.")
@click.option("--dask-cert", default="", metavar="FILE", help="TLS: this client's certificate.")
@click.option("--dask-key", default="", metavar="FILE", help="TLS: this client's key.")
@click.option("--cache", default=str(place.output("simulate")), show_default=True,
              help="Folder of finished runs; an interrupted command goes on there.")  # fmt: skip
@click.option("-o", "--out", metavar="FOLDER",
              help="Write runs.csv, steps.csv, runs.json and plots into a folder.")  # fmt: skip
@json_option
def command(
    recipe_names, model, train, test, data, names, seeds, changes, test_images, jobs, scheduler,
    dask_ca, dask_cert, dask_key, cache, out, json_file,
):  # fmt: skip
    """Train with each of RECIPES (names, or .json files) under corruptions, seed by seed.

    The same recipes as on a board, over the same C kernels: the same bits. A run that fails is
    told at the end (exit status 1); the others go on.
    """
    if "help" in changes:
        click.echo(recipes.described([recipes.read(name) for name in recipe_names]))
        return
    if bool(model) != bool(train) or bool(model) != bool(test):
        raise click.BadParameter("--model, --train and --test belong together")
    if out and pathlib.Path(out).is_file():
        refuse_other(out, False)
    cluster = clusters.Cluster(scheduler, dask_ca, dask_cert, dask_key) if scheduler else None
    own = owned.of(model, train, test) if model else None
    sweep = sweeps.of(recipe_names, changes, names, seeds, data, own, test_images)
    planned = sweep.runs()
    if cluster:
        with clusters.connected(cluster):
            pass  # a wrong address is told before any work
    with progress() as bars:
        task = bars.add_task("before", total=len(planned))
        before = sweep.before(cache, jobs)
        bars.update(task, description="runs")
        finished = runs.collect(
            planned, cache, jobs, lambda run: bars.update(task, advance=1), cluster
        )
    rows = results.json_rows(planned, finished, before)
    if json_file != "-":
        rich.console.Console().print(tables.simulated(rows))
    report(rows, json_file)
    if out:
        _write(pathlib.Path(out), rows, results.steps(planned, finished), json_file)
    failed = runs.failures(finished)
    if failed:
        told = "; ".join(f"{n} x {error}" for error, n in failed.items())
        raise ValueError(f"{sum(failed.values())} of {len(planned)} runs failed: {told}")


def _write(folder, rows, steps, json_file):
    """The files of --out; plots where matplotlib is."""
    folder.mkdir(parents=True, exist_ok=True)
    flat = [{name: row[name] for name in results.COLUMNS} for row in rows]
    texts = {
        "runs.csv": results.csv_text(results.COLUMNS, flat),
        "steps.csv": results.csv_text(results.STEP_COLUMNS, steps),
    }
    for name, text in texts.items():
        write_new(folder / name, text.encode(), force=True)
    report(rows, str(folder / "runs.json"))
    written = [*texts, "runs.json"]
    try:
        made = pictures.draw(flat, steps)
    except ImportError as error:
        say(f"no plots: {error}", json_file)
        made = {}
    for name, picture in made.items():
        write_new(folder / name, picture, force=True)
        written.append(name)
    say(f"{folder}: {', '.join(written)}", json_file)
