"""`microzo eval MODEL X Y`: accuracy, here over the C kernels or on a board."""

import io

import click
import numpy as np

from ..board import evaluate as on_board
from ..model import checks
from ..model import evaluate as on_host
from ..model import file as modelfile
from .common import force_option, json_option, progress, refuse_existing, report, say, write_new


@click.command("eval")
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.argument("x", type=click.Path(exists=True, dir_okay=False))
@click.argument("y", type=click.Path(exists=True, dir_okay=False))
@click.option("--board", metavar="PORT", help="Evaluate on this board (or auto); it has microzo.")
@click.option("--at", metavar="PATH", help="MODEL is on the board as PATH, such as /rom/m.st.")
@click.option(
    "--logits",
    type=click.Path(dir_okay=False),
    help="Write the logits to this .npy: int32 [samples, classes], 1/4096 nats.",
)
@force_option
@json_option
def command(model, x, y, board, at, logits, force, json_file):
    """Accuracy of MODEL on samples X and labels Y (.npy, uint8).

    A board gives the same logits as the kernels here, bit for bit: --logits shows them.
    """
    if at and not board:
        raise click.BadParameter("--at is for --board")
    if logits:
        refuse_existing(logits, force)
    checks.data(x, y, modelfile.read(model))
    if board:
        result = on_board.evaluate(board, model, x, y, at, tell=bool(logits))
    else:
        with progress() as bars:
            task = bars.add_task("eval")
            result = on_host.evaluate(
                model, x, y, lambda done, n: bars.update(task, completed=done, total=n)
            )
    if logits:
        file = io.BytesIO()
        np.save(file, result.logits())
        write_new(logits, file.getvalue(), force)
    say(f"{result.accuracy:.1f} % of {result.total}, loss {result.loss:.3f}", json_file)
    report(
        {
            "accuracy": result.accuracy,
            "correct": result.correct,
            "total": result.total,
            "loss": result.loss,
        },
        json_file,
    )
