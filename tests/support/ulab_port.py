"""MicroPython with the kernels and ulab, or the double of ulab, in it."""

import os
import subprocess

from microzo_host import place

DOUBLE = place.CLONE / "tests" / "support" / "ulab_double"
FIRMWARE = "mps2-an386-256K-usermod.elf"
ULAB = os.environ.get("ULAB_DIR")


def build(name):
    """The interpreter with "ulab" or "double"."""
    extra = DOUBLE if name == "double" else os.path.abspath(ULAB)
    return _built("build_unix.sh", extra, f"unix-{name}") / "micropython-usermod"


def firmware():
    """Firmware of the emulated board with ulab."""
    return _built("build_firmware.sh", os.path.abspath(ULAB), "firmware-ulab") / FIRMWARE


def _built(script, extra, name):
    """The folder of what a build script of the Makefile makes with user modules beside ours."""
    out = place.CLONE / "build" / name
    env = dict(os.environ, EXTRA_C_MODULES=str(extra), OUT=str(out), KINDS="usermod", SIZES="256K")
    env.setdefault("MPY", "build/micropython-1.25.0")
    env.setdefault("OBJDIR", "build/obj-1.25.0")
    done = subprocess.run(
        [f"boards/tools/{script}"], cwd=place.CLONE, env=env, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(done.stdout[-1000:] + done.stderr[-2000:])
    return out
