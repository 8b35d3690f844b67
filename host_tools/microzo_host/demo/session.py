"""One emulated board and the runs of train.py on it, through the mpremote command."""

import dataclasses
import pathlib
import re
import shlex
import subprocess
import sys

from .. import board_files, board_info, board_link, emulator, push

HERE = pathlib.Path(__file__).resolve().parent
TRAIN = push.ROOT / "device" / "examples" / "train.py"
LEFT = {"journal": "/train.journal", "adapted": "/adapted.safetensors"}
BOARD = board_info.BoardInfo("", "micropython", (1, 25, 0), "armv7emsp", "6.3", 0, "absent")


@dataclasses.dataclass
class Run:
    """What one run of train.py said and left: accuracies in per cent, RAM in bytes, files."""

    recipe: str
    before: float
    after: float
    steps: int
    ram_peak: int
    ram_limit: int
    journal: bytes
    adapted: bytes


def disk(model, case):
    """{path: bytes or file} of the board's disk: package, native module, model and data.

    The same files that `microzo push` sends, put into the disk's image because that is faster.
    """
    plan, _ = push.plan_files(BOARD, [])
    return {**dict(plan), "model.safetensors": model, **case.files}


def command(port, recipe, steps=None):
    """The mpremote command line of a run, as a user types it."""
    settings = f"recipe = {recipe!r}" + (f"; steps = {steps}" if steps else "")
    return [
        "mpremote", "connect", port, "exec", settings,
        "run", _short(HERE / "watch.py"), "run", _short(TRAIN), "exec", "print(ram_peak())",
    ]  # fmt: skip


def _short(path):
    return str(path.relative_to(push.ROOT))


def run(board, recipe, tell, steps=None):
    """Run train.py on a board with live lines to ``tell``; returns the Run."""
    with board_link.Link(board.port) as link:
        link.exec(
            f"import os\nfor p in os.listdir('/'):\n if p.startswith('train.journal'): os.remove(p)"
        )
    arguments = command(board.port, recipe, steps)
    tell(f"$ {shlex.join(arguments)}")
    lines = []
    with subprocess.Popen(
        [sys.executable, "-u", "-m", *arguments],
        cwd=push.ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        try:
            for line in process.stdout:
                lines.append(line.rstrip())
                tell(lines[-1])
        except BaseException:
            process.terminate()
            raise
    if process.returncode:
        raise emulator.BoardError(
            board.failure or f"train.py failed: {lines[-1] if lines else ''}"
        )
    return _read(board, recipe, lines)


def _read(board, recipe, lines):
    """The Run that the lines and the board's files tell of."""
    text = "\n".join(lines)
    peak, limit = re.findall(r"^\((\d+), (\d+)\)$", text, re.M)[-1]
    with board_link.Link(board.port, reset=False) as link:
        files = board_files.Files(link)
        left = {role: files.get(path) for role, path in LEFT.items()}
    return Run(
        recipe,
        before=_percent(r"^before\b.*?([\d.]+) %", text),
        after=_percent(r"^after\b.*?([\d.]+) %", text),
        steps=len(STEP.findall(text)),
        ram_peak=int(peak),
        ram_limit=int(limit),
        **left,
    )


STEP = re.compile(r"^step (\d+)/(\d+)(.*)$", re.M)


def _percent(pattern, text):
    found = re.search(pattern, text, re.M)
    if not found:
        raise emulator.BoardError("train.py did not print the accuracy before and after")
    return float(found[1])
