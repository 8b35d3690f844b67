"""MicroPython's linker of native modules; equal sources give equal files: link.py MPY_DIR ARGS...

The linker writes its output's path into the module, and walks over sets of names. Here it runs in
the output's folder, with a fixed seed of hashes.
"""

import os
import subprocess
import sys
from pathlib import Path


def main():
    tool, arguments = Path(sys.argv[1], "tools", "mpy_ld.py").resolve(), sys.argv[2:]
    output = Path(arguments[arguments.index("-o") + 1]).resolve()
    here = [os.path.abspath(a) if os.path.exists(a) else a for a in arguments]
    here = [f"-l{os.path.abspath(a[2:])}" if a.startswith("-l") else a for a in here]
    here[here.index("-o") + 1] = output.name
    env = dict(os.environ, PYTHONHASHSEED="0")
    return subprocess.call([sys.executable, tool, *here], cwd=output.parent, env=env)


if __name__ == "__main__":
    sys.exit(main())
