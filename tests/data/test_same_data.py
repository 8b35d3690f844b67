"""Data and models that the host tools make: the same bits whatever the PC's vector units are.

``made_data.json`` holds what this code made once (``python tests/support/made_data.py``); it
changes only together with a sentence that says why.
"""

import json
import os
import pathlib
import platform
import subprocess
import sys

import made_data
import pytest
from numpy._core import _multiarray_umath as umath

HERE = pathlib.Path(__file__).parents[1] / "support"
EXPECTED = json.loads((HERE / "made_data.json").read_text())
# NumPy's loops for newer processors, the C library's fused functions, OpenBLAS's kernels.
EXTRA_UNITS = [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__.get(name)]
PLAIN_LIBM = "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX512F"
OTHER_BLAS = {"x86_64": ("Nehalem", "Haswell"), "aarch64": ("ARMV8", "NEOVERSEN1")}
CORES = OTHER_BLAS.get(platform.machine(), ("", ""))


def test_on_this_machine():
    assert made_data.digests() == EXPECTED


@pytest.mark.slow
@pytest.mark.parametrize(
    "without, core",
    [(EXTRA_UNITS, CORES[0]), (EXTRA_UNITS[1:], CORES[1])],
    ids=["no vector units", "few of them"],
)
@pytest.mark.slow
def test_on_a_machine_with_fewer_vector_units(without, core):
    changes = {
        "NPY_DISABLE_CPU_FEATURES": " ".join(without),
        "OPENBLAS_CORETYPE": core,
        "GLIBC_TUNABLES": PLAIN_LIBM,
    }
    script = [sys.executable, "-W", "error", HERE / "made_data.py"]
    done = subprocess.run(
        script, env=os.environ | changes, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == EXPECTED
