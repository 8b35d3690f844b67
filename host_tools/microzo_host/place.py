"""Where this package lies: in a clone, which has a Makefile, or installed from a wheel.

A clone builds what goes to boards into build/. A wheel carries it in microzo_host/parts/, where
`make dist` puts it: natmod/ARCH/, package/mpyVERSION/, firmware/, examples/ and labs/.
"""

import pathlib

PACKAGE = pathlib.Path(__file__).resolve().parent
PARTS = PACKAGE / "parts"


def _clone():
    root = PACKAGE.parents[1]
    return root if (root / "Makefile").is_file() and (root / "boards" / "tools").is_dir() else None


CLONE = _clone()


SOURCES = {"examples": "device/examples", "labs": "docs/labs"}  # which a clone does not build


def parts(name):
    """The folder of one kind of parts: natmod, firmware, unix, examples, labs."""
    if CLONE is None:
        return PARTS / name
    return CLONE / SOURCES.get(name, f"build/{name}")


def output(name):
    """The folder for what a command leaves, where the user names none."""
    return pathlib.Path(f"microzo-{name}") if CLONE is None else CLONE / "build" / name


def cure(target, otherwise):
    """The end of an error's sentence: a target of the Makefile, or what to do without one."""
    return otherwise if CLONE is None else f"run `{target}`"
