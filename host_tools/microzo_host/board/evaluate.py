"""A model's accuracy and logits on a board, by the package that is on it."""

import pathlib

import microzo
import microzo.net.words

from ..model.evaluate import Evaluation
from . import files as board_files
from . import link as board_link
from .errors import LinkError

L = microzo.net.words
LOGITS = "logits "
SCRIPT = """
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


def evaluate(port, model, x, y, at=None, tell=False):
    """The Evaluation of the files model, x, y on the board at a port.

    at: where the model is on the board already; tell: whether to send the logits.
    """
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
        script = SCRIPT.format(**targets, **crcs, tell=tell, logits=LOGITS)
        lines = link.exec(script, timeout=None).splitlines()
    here = microzo.load(model).plan
    try:
        rows = [bytes.fromhex(line[len(LOGITS) :]) for line in lines if line.startswith(LOGITS)]
        correct, total, loss = map(int, lines[-1].split())
        told = lines[-2].split()
    except (ValueError, IndexError):
        raise LinkError(f"the board at {port} answers with noise: reset it, try again") from None
    if told != [str(here[L.PLAN_CRC]), str(here[L.BLOB_CRC])]:
        raise ValueError(f"{at} on the board is another model than {model}: deploy it again")
    return Evaluation(correct, total, loss / 10000, rows)
