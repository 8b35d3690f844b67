"""`microzo eval MODEL X Y`: accuracy, here over the C kernels or on a board."""

import io
import pathlib

import click
import numpy as np

import microzo
import microzo.net.words

from ..board import files as board_files
from ..board import link as board_link
from ..model import checks
from ..model import file as modelfile
from .common import force_option, json_option, progress, refuse_existing, report, say, write_new

L = microzo.net.words
LOGITS = "logits "
ON_BOARD = """
import binascii
import microzo
_m = microzo.load({model!r})
def _tell(done, n):
    if {tell}:
        print({logits!r} + binascii.hexlify(_m.logits()).decode())
_a = _m.evaluate(microzo.Dataset({x!r}, {y!r}), progress=_tell)
print(_m.plan[{plan_crc}], _m.plan[{blob_crc}])
print(_a.correct, _a.total, int(_a.loss * 10000))
"""


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
    made = modelfile.read(model)
    checks.data(x, y, made)
    if board:
        correct, total, loss, rows = _on_board(board, model, x, y, at, bool(logits))
    else:
        correct, total, loss, rows = _here(model, x, y)
    if logits:
        file = io.BytesIO()
        np.save(file, np.frombuffer(b"".join(rows), "<i4").reshape(total, -1))
        write_new(logits, file.getvalue(), force)
    say(f"{100 * correct / total:.1f} % of {total}, loss {loss:.3f}", json_file)
    report(
        {"accuracy": 100 * correct / total, "correct": correct, "total": total, "loss": loss},
        json_file,
    )


def _here(model, x, y):
    """(correct, total, loss, logits of each sample as bytes)"""
    loaded, rows = microzo.load(model), []
    with progress() as bars:
        task = bars.add_task("eval")

        def tell(done, n):
            rows.append(loaded.logits().tobytes())
            bars.update(task, completed=done, total=n)

        result = loaded.evaluate(microzo.Dataset(x, y), progress=tell)
    return result.correct, result.total, result.loss, rows


def _on_board(port, model, x, y, at, tell):
    targets = {"model": model, "x": x, "y": y}
    with board_link.Link(port) as link:
        files = board_files.Files(link)
        for role, path in targets.items():
            targets[role] = "/" + pathlib.Path(path).name
            if role == "model" and at:
                targets[role] = at
            else:
                files.put(targets[role], pathlib.Path(path).read_bytes())
        crcs = {"plan_crc": L.PLAN_CRC, "blob_crc": L.BLOB_CRC}
        script = ON_BOARD.format(**targets, **crcs, tell=tell, logits=LOGITS)
        lines = link.exec(script, timeout=None).splitlines()
    here = microzo.load(model).plan
    if lines[-2].split() != [str(here[L.PLAN_CRC]), str(here[L.BLOB_CRC])]:
        raise ValueError(f"{at} on the board is another model than {model}: deploy it again")
    rows = [bytes.fromhex(line[len(LOGITS) :]) for line in lines if line.startswith(LOGITS)]
    correct, total, loss = map(int, lines[-1].split())
    return correct, total, loss / 10000, rows
