"""`microzo pull PORT FILES...`: files from a board."""

import pathlib

import click

from ..board import files as board_files
from ..board import link as board_link
from .common import force_option, json_option, refuse_other, report, say, write_new


@click.command("pull")
@click.argument("port")
@click.argument("files", nargs=-1, required=True)
@click.option("--out", default=".", type=click.Path(file_okay=False), help="Folder to put in.")
@force_option
@json_option
def command(port, files, out, force, json_file):
    """Copy FILES from a board (PORT or auto), each verified by its SHA-256."""
    targets = {file: pathlib.Path(out, file.rsplit("/", 1)[-1]) for file in files}
    for target in targets.values():
        refuse_other(target, force)
    done = []
    with board_link.Link(port, reset=False) as link:
        board = board_files.Files(link)
        for file, target in targets.items():
            data = board.get(file)
            target.parent.mkdir(parents=True, exist_ok=True)
            write_new(target, data, force)
            say(f"{file} -> {target} ({len(data):,} bytes)", json_file)
            done.append({"file": file, "to": str(target), "bytes": len(data)})
    report({"files": done}, json_file)
