"""Installs microzo's labs from this folder, without a network:  python install.py

Everything goes into a new folder, microzo-labs in your home folder (or: python install.py FOLDER).
Nothing else on this computer is changed; to remove the labs, delete that folder.
"""

import os
import pathlib
import subprocess
import sys
import venv

KIT = pathlib.Path(__file__).resolve().parent
WINDOWS = os.name == "nt"
START = "start.bat" if WINDOWS else "start.sh"


def main():
    target = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "~/microzo-labs").expanduser()
    environment = target.resolve() / "python"
    print("installing into", target, "(one to three minutes) ...", flush=True)
    venv.create(environment, with_pip=True, clear=True)
    python = environment / ("Scripts/python.exe" if WINDOWS else "bin/python")
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "-q"]
    command += ["--no-index", "--find-links", str(KIT / "wheels"), "microzo[lab]"]
    if subprocess.call(command):
        sys.exit(
            "the kit has no wheels for this system and Python %d.%d: `microzo kit` with --system "
            "and --python makes them" % sys.version_info[:2]
        )
    subprocess.check_call([str(python), "-m", "microzo_host.cli", "lab", str(target / "labs"),
                           "--no-open"])  # fmt: skip
    start = target / START
    line = f'"{python}" -m microzo_host.cli lab "{target.resolve() / "labs"}"'
    start.write_text(f"{'@echo off' if WINDOWS else '#!/bin/sh'}\n{line}\n")
    start.chmod(0o755)
    print("ready. Start the labs with", start)


if __name__ == "__main__":
    main()
