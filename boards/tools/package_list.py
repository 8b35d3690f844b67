"""Writes device/package.json, which tells `mpremote mip install` the files of the package.

package_list.py --write writes it; package_list.py --check says whether it is out of date.
"""

import json
import sys

import generated

DEVICE = generated.ROOT / "device"
LIST = DEVICE / "package.json"


def text():
    """The list as it must be."""
    listed = json.loads(LIST.read_text())
    names = sorted(p.relative_to(DEVICE).as_posix() for p in (DEVICE / "microzo").rglob("*.py"))
    return json.dumps(dict(listed, urls=[[name, name] for name in names]), indent=2) + "\n"


if __name__ == "__main__":
    sys.exit(generated.run(__doc__, {LIST: text()}))
