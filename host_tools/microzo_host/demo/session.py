"""One emulated board and the runs of train.py on it, through the mpremote command."""

import dataclasses
import json
import re
import subprocess
import sys

from .. import place
from ..board import emulator, errors, push
from ..board import files as board_files
from ..board import info as board_info
from ..board import link as board_link

TRAIN = place.parts("examples") / "train.py"
LEFT = {"journal": "/train.journal", "adapted": "/adapted.safetensors"}
RESULT = "RESULT "
STEP = re.compile(r"^step (\d+)/(\d+)(.*)$")
# A journal that is there would be continued.
FORGET = """import os
for name in os.listdir("/"):
    if name.startswith("train.journal"):
        os.remove(name)
"""
BOARD = board_info.BoardInfo("", "micropython", (1, 25, 0), "armv7emsp", "6.3", 0, "absent")


# In the folder of a case, for `microzo report`: the names of train.py are those of the default.
KEPT = {"default": ("train.journal", "adapted.safetensors")}


def board_of(core):
    """The BoardInfo of an emulated board without a native module."""
    return dataclasses.replace(BOARD, arch=emulator.CORES[core].arch)


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

    def keep(self, folder):
        """Writes the journal and the adapted model into a folder."""
        own = f"{self.recipe}.journal", f"{self.recipe}.safetensors"
        for name, data in zip(KEPT.get(self.recipe, own), (self.journal, self.adapted)):
            (folder / name).write_bytes(data)


def disk(model, case):
    """{path: bytes or file} of the board's disk: package, native module, model and data.

    The same files that `microzo push` sends, put into the disk's image because that is faster.
    """
    plan, _ = push.plan_files(BOARD, [])
    return {**dict(plan), "model.safetensors": model, **case.files}


def command(port, recipe, steps=None, **more):
    """The mpremote command line of a run, as a user types it; more: other settings of train.py."""
    settings = [] if recipe == "default" else [f"recipe = {recipe!r}"]
    more.setdefault("lines", 0)  # every step: the demo has its own progress
    settings += [f"steps = {steps}"] if steps else []
    settings += [f"{name} = {value!r}" for name, value in more.items()]
    before = ["exec", "; ".join(settings)] if settings else []
    return ["mpremote", "connect", port, *before, "run", _shown(TRAIN)]


def _shown(script):
    """A file's name as a user types it: in a clone from its root, else whole."""
    return str(script if place.CLONE is None else script.relative_to(place.CLONE))


def run(board, recipe, tell, steps=None, **more):
    """Run train.py on a board with live lines to ``tell``; returns the Run."""
    with board_link.Link(board.port) as link:
        link.exec(FORGET)
    arguments = command(board.port, recipe, steps, **more)
    tell("$ " + subprocess.list2cmdline(arguments))
    lines = []
    with subprocess.Popen(
        [sys.executable, "-u", "-m", *arguments],
        cwd=place.CLONE,
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
        raise errors.BoardError(board.failure or f"train.py failed: {lines[-1] if lines else ''}")
    return _read(board, recipe, lines)


def _read(board, recipe, lines):
    """The Run that the lines and the board's files tell of."""
    told = next((line for line in reversed(lines) if line.startswith(RESULT)), None)
    if told is None:
        raise errors.BoardError("train.py ended without its RESULT line")
    result = json.loads(told.removeprefix(RESULT))
    with board_link.Link(board.port, reset=False) as link:
        files = board_files.Files(link)
        left = {role: files.get(path) for role, path in LEFT.items()}
    return Run(
        recipe,
        before=result["before"],
        after=result["after"],
        steps=result["steps"],
        ram_peak=result["ram_peak"],
        ram_limit=result["ram_limit"],
        **left,
    )
