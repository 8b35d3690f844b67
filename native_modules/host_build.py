"""How setuptools builds the kernels for CPython: by microzo/host.mk, as the Makefile does.

Where that fails (no compiler, no make) the package installs all the same and computes with NumPy.
"""

import os
import pathlib
import re
import subprocess
import sys

from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

SHELL = pathlib.Path(__file__).resolve().parent / "microzo"
OLDEST_GLIBC = (2, 17)  # of the wheel's platform tag


class BuildKernels(build_ext):
    """`build_ext` that calls make; an editable install takes what the Makefile builds."""

    def run(self):
        if not self.editable_mode:
            super().run()

    def get_outputs(self):
        return [] if self.editable_mode else super().get_outputs()

    def get_output_mapping(self):
        return {} if self.editable_mode else super().get_output_mapping()

    def build_extension(self, ext):
        target = pathlib.Path(self.get_ext_fullpath(ext.name)).resolve()
        out = pathlib.Path(self.build_temp).resolve()
        command = ["make", f"-j{os.cpu_count() or 1}", "-C", str(SHELL), "-f", "host.mk"]
        try:
            subprocess.check_call([*command, f"OUT={out}", f"PYTHON={sys.executable}"])
        except (OSError, subprocess.CalledProcessError) as error:
            raise CompileError(f"the C kernels do not build: {error}") from None
        target.parent.mkdir(parents=True, exist_ok=True)
        self.copy_file(str(out / "_native.abi3.so"), str(target))


class Wheel(bdist_wheel):
    """`bdist_wheel` with the tags of what was built: for any CPython from 3.11, on any glibc that
    has the few functions the kernels call."""

    def finalize_options(self):
        self.py_limited_api = "cp311"
        super().finalize_options()

    def get_tag(self):
        python, abi, platform = super().get_tag()
        kernels = list(pathlib.Path(self.bdist_dir).rglob("_native*.so"))
        if platform.startswith("linux_") and kernels and _glibc(kernels[0]) <= OLDEST_GLIBC:
            version = "_".join(map(str, OLDEST_GLIBC))
            platform = platform.replace("linux_", f"manylinux_{version}_", 1)
        return python, abi, platform


def _glibc(library):
    """The newest version of glibc whose functions a library names."""
    names = re.findall(rb"GLIBC_(\d+)\.(\d+)", library.read_bytes())
    return max((tuple(map(int, name)) for name in names), default=(0, 0))
