"""Arrays of ulab, in MicroPython's unix port: of ulab itself if ULAB_DIR names its tree, and of a
double that has its dtype, its strides and its buffer (tests/support/ulab_double)."""

import os
import subprocess

import pytest

from microzo_host import place
from microzo_host.board import emulator

CASES = place.CLONE / "tests" / "net" / "ulab_cases.py"
DOUBLE = place.CLONE / "tests" / "support" / "ulab_double"
ULAB = os.environ.get("ULAB_DIR")
CHECKS = [
    "uint8", "int8", "bool", "values", "shapes", "transposed", "mirrored", "strided", "reversed",
    "ArrayData", "in place", "ArrayData of views", "ArrayData of values", "results",
]  # fmt: skip

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (ULAB or os.environ.get("MICROZO_FULL")), reason="builds a unix port: make test-full"
    ),
]


@pytest.fixture(
    scope="module",
    params=[
        "double",
        pytest.param(
            "ulab", marks=pytest.mark.skipif(not ULAB, reason="set ULAB_DIR to a tree of ulab")
        ),
    ],
)
def port(request):
    """The unix port with the kernels and that module in it."""
    out = place.CLONE / "build" / f"unix-{request.param}"
    env = dict(
        os.environ,
        EXTRA_C_MODULES=str(DOUBLE if request.param == "double" else os.path.abspath(ULAB)),
        OUT=str(out),
        KINDS="usermod",
    )
    env.setdefault("MPY", "build/micropython-1.25.0")
    env.setdefault("OBJDIR", "build/obj-1.25.0")
    done = subprocess.run(
        ["boards/tools/build_unix.sh"], cwd=place.CLONE, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-2000:]
    return out / "micropython-usermod"


@pytest.mark.parametrize("kernels", ["c", "python"])
def test_arrays_go_in_and_come_out(kernels, port, model_path, data_paths, monkeypatch):
    monkeypatch.setenv("MICROZO_UNIX", str(port))
    unix = emulator.Unix(path=[place.CLONE / "device"], heap="16M")
    said = unix.run(CASES, model_path, *data_paths, kernels, timeout=300).splitlines()
    said = [line for line in said if line and not line.startswith("microzo: warning: ")]
    assert said == CHECKS + ["predict in C"] * (kernels == "c")
