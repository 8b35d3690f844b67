"""`microzo eval MODEL X Y`: accuracy, here over the C kernels or on a board."""

import pathlib

import click

import microzo

from .. import board_files, board_link, checks, modelfile
from .common import json_option, progress, report, say

ON_BOARD = """
import microzo
_m = microzo.load({model!r})
_a = _m.evaluate(microzo.Dataset({x!r}, {y!r}))
print(_a.correct, _a.total, int(_a.loss * 10000))
"""


@click.command("eval")
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.argument("x", type=click.Path(exists=True, dir_okay=False))
@click.argument("y", type=click.Path(exists=True, dir_okay=False))
@click.option("--board", metavar="PORT", help="Evaluate on this board (or auto); it has microzo.")
@json_option
def command(model, x, y, board, json_file):
    """Accuracy of MODEL on samples X and labels Y (.npy, uint8)."""
    checks.data(x, y, modelfile.read(model))
    correct, total, loss = _on_board(board, model, x, y) if board else _here(model, x, y)
    say(f"{100 * correct / total:.1f} % of {total}, loss {loss:.3f}", json_file)
    report(
        {"accuracy": 100 * correct / total, "correct": correct, "total": total, "loss": loss},
        json_file,
    )


def _here(model, x, y):
    with progress() as bars:
        task = bars.add_task("eval")
        result = microzo.load(model).evaluate(
            microzo.Dataset(x, y),
            progress=lambda done, n: bars.update(task, completed=done, total=n),
        )
    return result.correct, result.total, result.loss


def _on_board(port, model, x, y):
    targets = {"model": model, "x": x, "y": y}
    with board_link.Link(port) as link:
        files = board_files.Files(link)
        for role, path in targets.items():
            targets[role] = "/" + pathlib.Path(path).name
            files.put(targets[role], pathlib.Path(path).read_bytes())
        words = link.exec(ON_BOARD.format(**targets), timeout=None).split()
    return int(words[-3]), int(words[-2]), int(words[-1]) / 10000
