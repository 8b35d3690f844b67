"""`microzo emulator`: an emulated board that mpremote and the other commands can use."""

import subprocess
import sys
import time

import click

from ..board import emulator, errors


@click.command("emulator")
@click.option("--ram", type=click.Choice(["256K", "1M"]), default="256K", show_default=True)
@click.option("--core", type=click.Choice(list(emulator.CORES)), default="m4", show_default=True)
@click.option("--usermod", is_flag=True, help="Firmware with the module built in.")
@click.option("--disk", metavar="FILE", help="Keep the board's disk in FILE, or go on with it.")
@click.option("--repl", is_flag=True, help="Open its REPL (leave with Ctrl-X).")
def command(ram, core, usermod, disk, repl):
    """Start an emulated board and print its port, until Ctrl-C."""
    with emulator.Board(ram, usermod, disk=disk, core=core) as board:
        if repl:
            sys.exit(
                subprocess.call([sys.executable, "-m", "mpremote", "connect", board.port, "repl"])
            )
        click.echo(f"mpremote connect {board.port}    (Ctrl-C here switches the board off)")
        try:
            while board.failure is None:
                time.sleep(0.2)
        except KeyboardInterrupt:
            return
        raise errors.EmulatorError(board.failure)
