"""`microzo run PORT SCRIPT`: a script on a board, with live output."""

import pathlib
import sys

import click

from .. import board_link, errors


@click.command("run")
@click.argument("port")
@click.argument("script", type=click.Path(exists=True, dir_okay=False))
@click.option("--keep", is_flag=True, help="No soft reset before: keep what is defined.")
def command(port, script, keep):
    """Run SCRIPT on a board (PORT or auto); Ctrl-C reaches the script, a second one leaves it."""
    with board_link.Link(port, reset=not keep) as link:
        try:
            link.stream(pathlib.Path(script).read_bytes(), _write)
        except errors.ScriptError as error:
            click.echo(error.traceback, err=True, nl=False)
            raise


def _write(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
