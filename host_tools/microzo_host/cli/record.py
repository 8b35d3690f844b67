"""`microzo record PORT SCRIPT`: samples that a script on a board records, pulled as they come."""

import pathlib
import sys
import time

import click

from ..board import link as board_link
from ..board import record
from ..board.errors import BoardError
from ..visible import Stream
from .common import json_option, report, say


@click.command("record")
@click.argument("port")
@click.argument("script", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--out", default=".", type=click.Path(file_okay=False), help="Folder of x.npy, y.npy."
)
@click.option("--samples", type=click.IntRange(1), help="Stop after so many.")
@json_option
def command(port, script, out, samples, json_file):
    """Run SCRIPT on a board (PORT or auto) and keep what its microzo.Recorder gets, here.

    The samples go to x.npy and y.npy, which grow if they are there. Ctrl-C ends the script.
    """
    taken = record.Samples(out)
    progress = Progress(taken, samples, sys.stderr)
    stream = Stream()

    def show(data):
        text = stream.feed(taken.feed(data))
        if text and json_file != "-":
            progress.clear()
            sys.stdout.write(text)
            sys.stdout.flush()
        progress.show()
        if samples and taken.count >= samples and progress.first_end():
            raise KeyboardInterrupt  # it goes on to the board

    with board_link.Link(port) as link:
        try:
            link.exec(record.BEGIN)
        except board_link.ScriptError as error:
            raise BoardError(
                f"the board at {link.port} has no microzo.Recorder: `microzo push` brings it"
            ) from error
        try:
            link.stream(pathlib.Path(script).read_bytes(), show)
        except board_link.ScriptError as error:
            if not error.traceback.strip().endswith("KeyboardInterrupt:"):
                progress.clear()
                click.echo(error.traceback, err=True, nl=False)
                raise
        finally:
            taken.close()
            progress.clear()
    damaged = f", {taken.damaged} arrived damaged" if taken.damaged else ""
    say(f"recorded {taken.count} samples{damaged}: {out}/x.npy has {taken.total}", json_file)
    result = {"recorded": taken.count, "damaged": taken.damaged, "total": taken.total, "out": out}
    report(result, json_file)


class Progress:
    """One line on a terminal that is written again and again; nothing elsewhere."""

    def __init__(self, taken, wanted, out):
        self._taken, self._wanted, self._out = taken, wanted, out
        self._begun, self._shown = time.monotonic(), 0
        self._over = False

    def first_end(self):
        """True the first time."""
        over, self._over = self._over, True
        return not over

    def show(self):
        taken = self._taken
        if taken.count == self._shown or not self._out.isatty():
            return
        self._shown = taken.count
        of = f"/{self._wanted}" if self._wanted else ""
        label = "" if taken.label is None else f", class {taken.label}"
        rate = taken.count / max(1e-3, time.monotonic() - self._begun)
        self._out.write(f"\r\x1b[Krecorded {taken.count}{of} samples{label}, {rate:.1f}/s")
        self._out.flush()

    def clear(self):
        if self._shown and self._out.isatty():
            self._out.write("\r\x1b[K")
            self._out.flush()
            self._shown = 0
