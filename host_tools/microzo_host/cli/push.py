"""`microzo push PORT FILES...`: package, native module, model and data onto a board."""

import click

from ..board import files as board_files
from ..board import info as board_info
from ..board import link as board_link
from ..board import push
from ..model import checks
from .common import json_option, progress, report, say


@click.command("push")
@click.argument("port")
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False))
@click.option("--to", "folder", default="/", help="Folder on the board for FILES.")
@click.option("--source", is_flag=True, help="Push the package as .py, not compiled.")
@click.option("--module", type=click.Path(exists=True, dir_okay=False), help="This native module.")
@click.option("--no-module", is_flag=True, help="Push no native module.")
@click.option("--no-package", is_flag=True, help="Push FILES only.")
@json_option
def command(port, files, folder, source, module, no_module, no_package, json_file):
    """Copy the package, the right native module and FILES to a board (PORT or auto).

    Files that are there already are skipped, each copy is verified, and an
    interrupted push goes on where it stopped.
    """
    checks.together(files)
    with board_link.Link(port) as link:
        info = board_info.ask(link)
        board_info.check_version(info)
        say(str(info), json_file)
        plan, notes = push.plan_files(
            info,
            files,
            not source,
            module,
            folder,
            parts=push.Parts(package=not no_package, module=not (no_module or no_package)),
        )
        for note in notes:
            say(note, json_file)
        done = []
        with progress() as bars:
            task = bars.add_task("push", total=sum(len(data) for _, data in plan))
            before = 0

            def show(target, sent, size):
                bars.update(task, completed=before + sent, description=target)

            board = board_files.Files(link)
            for target, size, what in push.send(board, plan, show):
                before += size
                done.append({"file": target, "bytes": size, "what": what})
        for warning in (*push.hidden(board), *push.shadowing(board, plan)):
            say(warning, json_file)
    say(_summary(done), json_file)
    report({"board": str(info), "files": done}, json_file)


def _summary(done):
    """One line: how many files were copied, and how many were there already."""
    copied = [entry for entry in done if entry["what"] != "unchanged"]
    same = len(done) - len(copied)
    if not copied:
        return f"all {same} files are on the board, unchanged"
    size = sum(entry["bytes"] for entry in copied)
    text = f"{len(copied)} files copied and verified ({size:,} bytes)"
    return f"{text}, {same} unchanged" if same else text
