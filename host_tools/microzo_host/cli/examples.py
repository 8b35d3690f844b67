"""`microzo examples [FOLDER]`: the scripts that come with microzo, as files to change."""

import pathlib

import click

from .. import place
from .common import force_option, write_new


@click.command("examples")
@click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False))
@force_option
def command(folder, force):
    """Copy the example scripts to FOLDER, or list them; `mpremote run train.py` runs one."""
    for script in sorted(place.parts("examples").glob("*.py")):
        data = script.read_bytes()
        if folder is None:
            click.echo(f"{script.name:16} {_purpose(data.decode())}")
            continue
        target = pathlib.Path(folder, script.name)
        write_new(target, data, force)
        click.echo(target)


def _purpose(source):
    """The first line of a script's docstring."""
    return source.partition('"""')[2].splitlines()[0].rstrip(":")
