"""What every part of the machine shares: seeds, counts, workers in processes of their own."""

import os
import pathlib
import random
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FULL = os.environ.get("MICROZO_FULL", "") not in ("", "0")
# A run of its own every time would hide what a change broke; MICROZO_SEED asks for another one.
SEED = int(os.environ.get("MICROZO_SEED", "1"))


def rng(kind, number):
    """The random numbers of one case; `kind` and `number` repeat it."""
    return random.Random(f"{SEED} {kind} {number}")


def count(reduced, full):
    return full if FULL else reduced


def worker(script, *arguments, timeout=3000, env=None):
    """Runs a script of this folder in a Python of its own; its output, which ends in `done`.

    AssertionError with the words that repeat the failing case otherwise.
    """
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    path = os.pathsep.join(
        map(str, (ROOT / "device", ROOT / "host_tools", HERE.parent / "support"))
    )
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=timeout,
        env={**os.environ, "PYTHONPATH": path, "MICROZO_SEED": str(SEED), **(env or {})},
    )  # fmt: skip
    text = done.stdout + done.stderr
    print(text[-4000:])
    assert done.returncode == 0 and done.stdout.rstrip().endswith("done"), (
        f"MICROZO_SEED={SEED} {' '.join(command[1:])}: status {done.returncode}\n{text[-3000:]}"
    )
    return done.stdout
