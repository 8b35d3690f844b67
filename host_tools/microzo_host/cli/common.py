"""What several commands share: outputs that overwrite nothing, JSON reports, progress bars."""

import json
import os
import pathlib

import click
import rich.console
import rich.progress

from ..visible import visible


def _json_file(ctx, option, path):
    if path and path != "-":
        check_folder(path)  # before any work
    return path


json_option = click.option(
    "--json", "json_file", metavar="FILE", callback=_json_file,
    help="Write the result as JSON ('-': standard output).",
)  # fmt: skip
force_option = click.option("--force", is_flag=True, help="Replace existing output files.")


def check_folder(path):
    """Raise if the folder of an output does not exist."""
    folder = pathlib.Path(path).parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {folder}")


def refuse_existing(path, force):
    """Raise before any work if an output exists, or has no folder."""
    check_folder(path)
    refuse_other(path, force)


def refuse_other(path, force):
    """Raise before any work if an output exists; its folder may be made later."""
    if os.path.exists(path) and not force:
        raise FileExistsError(f"{path} exists: choose another name or give --force")


def write_new(path, data, force=False):
    """Write bytes whole or not at all: a temporary file beside the target, then a rename."""
    refuse_existing(path, force)
    path = pathlib.Path(path)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def report(result, json_file):
    """Write a result that json can hold; nothing if no file was asked for."""
    if json_file == "-":
        click.echo(json.dumps(result, indent=1))
    elif json_file:
        write_new(json_file, (json.dumps(result, indent=1) + "\n").encode(), force=True)


def say(text, json_file):
    """Print for a person, unless standard output is the JSON."""
    if json_file != "-":
        click.echo(visible(text))


def progress():
    """A rich progress bar on stderr, gone when done, silent when not on a terminal."""
    console = rich.console.Console(stderr=True)
    return rich.progress.Progress(
        rich.progress.TextColumn("{task.description}"),
        rich.progress.BarColumn(),
        rich.progress.TaskProgressColumn(),
        rich.progress.TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
