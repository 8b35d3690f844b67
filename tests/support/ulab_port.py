"""MicroPython's unix port with the kernels and ulab, or the double of ulab, in it."""

import os
import subprocess

from microzo_host import place

DOUBLE = place.CLONE / "tests" / "support" / "ulab_double"
ULAB = os.environ.get("ULAB_DIR")


def build(name):
    """The interpreter with "ulab" or "double"."""
    out = place.CLONE / "build" / f"unix-{name}"
    extra = DOUBLE if name == "double" else os.path.abspath(ULAB)
    env = dict(os.environ, EXTRA_C_MODULES=str(extra), OUT=str(out), KINDS="usermod")
    env.setdefault("MPY", "build/micropython-1.25.0")
    env.setdefault("OBJDIR", "build/obj-1.25.0")
    done = subprocess.run(
        ["boards/tools/build_unix.sh"], cwd=place.CLONE, env=env, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(done.stdout[-1000:] + done.stderr[-2000:])
    return out / "micropython-usermod"
