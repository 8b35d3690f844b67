"""Contract: a step allocates nothing on a heap of MicroPython, and has the bits of CPython.

The board has 31-bit small integers: a value that needs more would allocate there, and only there.
"""

import json
import os
import pathlib

import declared
import pytest
import runs

from microzo_host.board import emulator, push
from microzo_host.board import info as board_info

SCRIPT = pathlib.Path(__file__).parent / "locked.py"
LOCK = SCRIPT.parents[1] / "support" / "heap_locked.py"
BOARD = board_info.BoardInfo("", "micropython", (1, 25, 0), "armv7emsp", "6.3", 0, "absent")
FULL = bool(os.environ.get("MICROZO_FULL"))


def on_unix(files, variants):
    unix = emulator.Unix(True, path=[SCRIPT.parents[2] / "device", LOCK.parent], heap="8M")
    return unix.run(SCRIPT, *files, variants, timeout=300)


def on_board(files, variants):
    """Stock firmware, the native module, compiled package: what a user of a bought board has."""
    plan, _ = push.plan_files(BOARD, [])
    names = ("m.safetensors", "x.npy", "y.npy", "v.json")
    paths = map(pathlib.Path, (*files, variants))
    arguments = ["", *names]
    code = f"import sys\nsys.argv[:] = {arguments!r}\n" + SCRIPT.read_text()
    fs = {**dict(plan), LOCK.name: LOCK, **dict(zip(names, paths, strict=True))}
    with emulator.Board(ram="256K", fs=fs) as board:
        return board.exec(code, timeout=500)


@pytest.mark.board
@pytest.mark.parametrize("interpreter", (on_unix, on_board))
def test_a_step_allocates_nothing(interpreter, files, run):
    chosen = declared.everything()
    if not FULL:
        chosen = [p.values[0] for p in runs.sampled(chosen, 24) if not p.marks]
    path = run.folder / "variants.json"
    path.write_text("".join(json.dumps((v.name, v.recipe, v.steps)) + "\n" for v in chosen))
    said = interpreter(files, path).splitlines()
    lines = [line.split() for line in said if line[:1].isdigit()]  # not a warning about the data
    assert len(lines) == len(chosen), said
    results = {chosen[int(i)].name: int(crc) for i, crc in lines}
    expected = {}
    for variant in chosen:
        model, _ = run.train(variant)
        expected[variant.name] = model.k.crc32(model.state, 0, len(model.state))
    assert results == expected
