"""Says whether a folder is a MicroPython source tree that builds: check_tree.py FOLDER."""

import re
import sys
from pathlib import Path

OLDEST = (1, 25)  # before it, native modules cannot take the compiler's run-time functions


def version(folder):
    """(major, minor), or None where this is no source tree."""
    header = Path(folder, "py", "mpconfig.h")
    if not Path(folder, "py", "dynruntime.mk").is_file() or not header.is_file():
        return None
    numbers = re.findall(r"#define MICROPY_VERSION_M(?:AJ|IN)OR (\d+)", header.read_text())
    return tuple(map(int, numbers))


def main():
    folder = sys.argv[1]
    number = version(folder)
    if number is None:
        sys.exit(f"MPY_DIR={folder} is no MicroPython source.")
    if number < OLDEST:
        here, oldest = (".".join(map(str, v)) for v in (number, OLDEST))
        sys.exit(f"MPY_DIR={folder} is MicroPython {here}: give a tree of {oldest} or newer.")


if __name__ == "__main__":
    main()
