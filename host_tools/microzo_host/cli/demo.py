"""`microzo demo`: the main job, end to end, on emulated boards."""

import os
import pathlib
import sys

import click

from ..demo import prepare, run
from .group import SeveralValues


@click.command("demo", cls=SeveralValues)
@click.option("--data", type=click.Choice(list(prepare.CORRUPTIONS)), envvar="DATA",
              default="mnist", show_default=True,
              help="Data set, or the variable DATA.")  # fmt: skip
@click.option("--corruptions", multiple=True, metavar="NAME...", help="Some of the usual three.")
@click.option("--quick", is_flag=True, help="Few samples and steps, to test it.")
@click.option("--jobs", type=click.IntRange(1), default=min(2, os.cpu_count() or 1),
              show_default=True, help="Boards at once.")  # fmt: skip
@click.option("--no-bp", is_flag=True, help="Leave back-propagation out.")
@click.option("--out", type=click.Path(file_okay=False, path_type=pathlib.Path), default=run.BUILD,
              help="Folder, default build/demo.")  # fmt: skip
def command(data, corruptions, quick, jobs, no_bp, out):
    """Adapt a network on an emulated 256-KB board; status 1 if a promise is not kept."""
    failures = run.run(run.Settings(data, corruptions, quick, jobs, not no_bp, out))
    for failure in failures:
        click.echo(f"FAILED: {failure}", err=True)
    sys.exit(1 if failures else 0)
