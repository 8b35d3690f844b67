"""`microzo run PORT SCRIPT`: a script on a board, with live output."""

import functools
import pathlib
import sys

import click

from ..board import link as board_link
from ..visible import Stream


@click.command("run")
@click.argument("port")
@click.argument("script", type=click.Path(exists=True, dir_okay=False))
@click.option("--keep", is_flag=True, help="No soft reset before: keep what is defined.")
@click.option("--raw", is_flag=True, help="Pass on what the board sends as it is.")
def command(port, script, keep, raw):
    """Run SCRIPT on a board (PORT or auto); Ctrl-C reaches the script, a second one leaves it.

    Terminal escapes that the board sends are shown, not obeyed.
    """
    write = _write if raw else functools.partial(_show, Stream())
    with board_link.Link(port, reset=not keep) as link:
        try:
            link.stream(pathlib.Path(script).read_bytes(), write)
        except board_link.ScriptError as error:
            click.echo(error.traceback, err=True, nl=False)
            raise


def _show(stream, data):
    _write(stream.feed(data).encode())


def _write(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
