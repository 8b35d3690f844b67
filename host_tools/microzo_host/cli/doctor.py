"""`microzo doctor PORT`: what a board has, which native module fits, what is missing."""

import dataclasses

import click

from ..board import doctor
from ..board import link as board_link
from .common import json_option, report, say


@click.command("doctor")
@click.argument("port", default="auto")
@json_option
def command(port, json_file):
    """Examine a board without changing anything on it."""
    with board_link.Link(port, reset=False) as link:
        board = doctor.examine(link)
    info, free = board.info, board.free
    disk = "none mounted" if free is None else f"{free:,} bytes"
    say(str(info), json_file)
    say(f"heap free: {info.heap_free:,} bytes; file system free: {disk}", json_file)
    say(f"native module on the board: {info.module}", json_file)
    say(f"native module that fits: {board.fitting or 'there is none'}", json_file)
    for problem in board.problems or ["nothing is missing"]:
        say(f"- {problem}", json_file)
    report(
        {
            **dataclasses.asdict(info),
            "disk_free": free,
            "fitting_module": str(board.fitting) if board.fitting else None,
            "problems": board.problems,
        },
        json_file,
    )
    if board.problems:
        raise SystemExit(1)
