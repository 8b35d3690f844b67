"""`microzo lab [FOLDER]`: the labs, as notebooks in a folder, opened in JupyterLab."""

import importlib.util
import subprocess
import sys

import click

from .. import extras
from ..labs import folder as labs


@click.command("lab")
@click.argument("folder", default="microzo-labs", type=click.Path(file_okay=False))
@click.option("--teacher", is_flag=True, help="With solutions and teacher's pages.")
@click.option("--no-open", is_flag=True, help="Only write the files.")
def command(folder, teacher, no_open):
    """Write the six labs to FOLDER (default: microzo-labs) and open them in JupyterLab.

    What is in FOLDER already stays as it is: delete a notebook to get it fresh.
    """
    if not no_open and importlib.util.find_spec("jupyterlab") is None:
        raise extras.missing("JupyterLab is not installed", "lab")
    written = labs.make(folder, teacher)
    click.echo(f"{folder}: {len(written)} new files; the sheets are 1-*.ipynb to 6-*.ipynb")
    if not no_open:
        command = [sys.executable, "-m", "jupyterlab"]
        sys.exit(subprocess.call(command, cwd=folder))
