"""Writes device/package.json, which tells `mpremote mip install` the files of the package.

package_list.py --write writes it; package_list.py --check says whether it is out of date.
"""

import argparse
import json
import sys
from pathlib import Path

DEVICE = Path(__file__).resolve().parents[2] / "device"
LIST = DEVICE / "package.json"


def text():
    """The list as it must be."""
    listed = json.loads(LIST.read_text())
    names = sorted(p.relative_to(DEVICE).as_posix() for p in (DEVICE / "microzo").rglob("*.py"))
    return json.dumps(dict(listed, urls=[[name, name] for name in names]), indent=2) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("--write", action="store_true")
    choice.add_argument("--check", action="store_true")
    if parser.parse_args().write:
        LIST.write_text(text())
        return 0
    if LIST.read_text() == text():
        return 0
    print("device/package.json is out of date: run make generated")
    return 1


if __name__ == "__main__":
    sys.exit(main())
