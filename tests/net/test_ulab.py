"""Arrays of ulab, in MicroPython's unix port: of ulab itself if ULAB_DIR names its tree, and of a
double that has its dtype, its strides and its buffer (tests/support/ulab_double)."""

import os
import pathlib

import pytest
import ulab_port

from microzo_host import place
from microzo_host.board import emulator, push
from microzo_host.board import info as board_info

CASES = place.CLONE / "tests" / "net" / "ulab_cases.py"
BOARD = board_info.BoardInfo("", "micropython", (1, 25, 0), "armv7emsp", "6.3", 0, "absent")
CHECKS = [
    "uint8", "int8", "bool", "values", "shapes", "transposed", "mirrored", "strided", "reversed",
    "permuted", "ArrayData", "in place", "ArrayData of views", "ArrayData of values", "results",
]  # fmt: skip

NO_ULAB = pytest.mark.skipif(not ulab_port.ULAB, reason="set ULAB_DIR to a tree of ulab")
NO_DOUBLE = pytest.mark.skipif(
    not (ulab_port.ULAB or os.environ.get("MICROZO_FULL")),
    reason="builds a unix port, a minute: make test-full",
)


@pytest.fixture(
    scope="module",
    params=[pytest.param("double", marks=NO_DOUBLE), pytest.param("ulab", marks=NO_ULAB)],
)
def port(request):
    return ulab_port.build(request.param)


def checks(said):
    """The lines of checks that hold, of what was printed."""
    return [line for line in said if line and not line.startswith("microzo: warning: ")]


@pytest.mark.slow
@pytest.mark.parametrize("kernels", ["c", "python"])
def test_arrays_go_in_and_come_out(kernels, port, model_path, data_paths, monkeypatch):
    monkeypatch.setenv("MICROZO_UNIX", str(port))
    unix = emulator.Unix(path=[place.CLONE / "device"], heap="16M")
    said = unix.run(CASES, model_path, *data_paths, kernels, timeout=300).splitlines()
    assert checks(said) == CHECKS + ["predict in C"] * (kernels == "c")


@pytest.mark.board
@NO_ULAB
def test_on_a_board_of_256_kilobytes(model_path, data_paths):
    plan, _ = push.plan_files(BOARD, [])
    names = ["m.safetensors", "x.npy", "y.npy"]
    files = dict(zip(names, map(pathlib.Path, (model_path, *data_paths)), strict=True))
    code = f"import sys\nsys.argv[:] = {['', *names, 'c']!r}\n" + CASES.read_text()
    with emulator.Board(firmware=ulab_port.firmware(), fs={**dict(plan), **files}) as board:
        said = board.exec(code, timeout=300).splitlines()
    assert checks(said) == [*CHECKS, "predict in C"]
