"""Arrays of ulab, in MicroPython's unix port: of ulab itself if ULAB_DIR names its tree, and of a
double that has its dtype, its strides and its buffer (tests/support/ulab_double)."""

import os

import pytest
import ulab_port

from microzo_host import place
from microzo_host.board import emulator

CASES = place.CLONE / "tests" / "net" / "ulab_cases.py"
CHECKS = [
    "uint8", "int8", "bool", "values", "shapes", "transposed", "mirrored", "strided", "reversed",
    "ArrayData", "in place", "ArrayData of views", "ArrayData of values", "results",
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


@pytest.mark.slow
@pytest.mark.parametrize("kernels", ["c", "python"])
def test_arrays_go_in_and_come_out(kernels, port, model_path, data_paths, monkeypatch):
    monkeypatch.setenv("MICROZO_UNIX", str(port))
    unix = emulator.Unix(path=[place.CLONE / "device"], heap="16M")
    said = unix.run(CASES, model_path, *data_paths, kernels, timeout=300).splitlines()
    said = [line for line in said if line and not line.startswith("microzo: warning: ")]
    assert said == CHECKS + ["predict in C"] * (kernels == "c")
