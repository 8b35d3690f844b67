"""`microzo emulator`: an emulated board that mpremote and the other commands can use."""

import subprocess
import sys
import time

import click

from ..board import emulator, errors, running
from ..demo import disk as demo_disk


@click.command("emulator")
@click.option("--ram", type=click.Choice(["256K", "1M"]), default="256K", show_default=True)
@click.option("--core", type=click.Choice(list(emulator.CORES)), default="m4", show_default=True)
@click.option("--usermod", is_flag=True, help="Firmware with the module built in.")
@click.option("--disk", metavar="FILE", help="Keep the board's disk in FILE, or go on with it.")
@click.option(
    "--demo",
    is_flag=True,
    help="With the package, the demo's model and data; its disk is kept in build/boards.",
)
@click.option("--fresh", is_flag=True, help="With --demo: throw the old disk away.")
@click.option("--repl", is_flag=True, help="Open its REPL (leave with Ctrl-X).")
def command(ram, core, usermod, disk, demo, fresh, repl):
    """Start an emulated board and print its port, until Ctrl-C.

    Other commands find it: `microzo boards`, and PORT auto.
    """
    if disk and demo:
        raise click.BadParameter("give --disk or --demo, not both")
    if demo:
        disk = demo_disk.at_hand(core, ram, fresh)
    with (
        emulator.Board(ram, usermod, disk=disk, core=core) as board,
        running.told(board.port, f"{core}, {ram}"),
    ):
        if demo:
            click.echo(demo_disk.TRY)
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
