"""`microzo boards`: serial ports and emulated firmware."""

import click

from .. import place
from ..board import emulator, running
from ..board import link as board_link
from .common import json_option, report, say


@click.command("boards")
@json_option
def command(json_file):
    """List serial ports and emulated boards: those that run, those that are built."""
    ports = board_link.ports()
    firmware = sorted(p.stem for p in emulator.FIRMWARE.glob("*.elf"))
    for device, description, is_usb in ports:
        say(f"{device}  {description}{'' if is_usb else '  (no USB)'}", json_file)
    if not ports:
        say("no serial port", json_file)
    boards = running.boards()
    for board in boards:
        say(f"{board.port}  emulated board that runs ({board.name})", json_file)
    for name in firmware:
        say(f"emulated: {name}  (`microzo emulator` starts one)", json_file)
    if not firmware:
        say(f"no emulated board: {place.cure('make firmware', emulator.CLONE_ONLY)}", json_file)
    report(
        {
            "ports": [{"device": d, "description": t, "usb": u} for d, t, u in ports],
            "running": [{"port": b.port, "name": b.name} for b in boards],
            "emulated": firmware,
        },
        json_file,
    )
