"""An emulated Raspberry Pi Pico: rp2040py runs MicroPython's own firmware of that board.

    with Pico(fs={"main.py": b"print(1)"}) as board:
        with Link(board.port, reset=False) as link: ...

An emulated second takes about half a minute: it shows that things work, not how fast.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .. import place
from . import disk_image
from .errors import EmulatorError

FIRMWARE = place.parts("firmware") / "rpi-pico-stock.uf2"
DISK_BYTES = 352 * disk_image.BLOCK_BYTES  # as the port lays out 2 MB of flash


class Pico:
    """One board, on from its beginning until close()."""

    def __init__(self, fs, firmware=FIRMWARE):
        if not Path(firmware).is_file():
            cure = place.cure("make firmware-pico", "take the one of micropython.org as firmware=")
            raise EmulatorError(f"no {Path(firmware).name} here: {cure}")
        if importlib.util.find_spec("rp2040py") is None:
            cure = place.cure("make test-packages", "run `pip install rp2040py`")
            raise EmulatorError(f"rp2040py, which emulates a Pico, is not installed: {cure}")
        self._folder = tempfile.mkdtemp(prefix="microzo-pico-")
        disk = Path(self._folder, "disk.img")
        disk.write_bytes(disk_image.make(fs, DISK_BYTES))
        command = [sys.executable, "-u", "-m", "rp2040py", "micropython", "--pty"]
        self._process = subprocess.Popen(
            [*command, "--image", str(firmware), "--littlefs", str(disk)],
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.port = self._find_port()

    def _find_port(self):
        said = []
        for line in self._process.stdout:
            if port := re.search(r"/dev/pts/\d+", line):
                return port[0]
            said.append(line.strip())
        self.close()
        raise EmulatorError(f"rp2040py did not start: {said[-1] if said else 'no output'}")

    def close(self):
        """Ends the emulator and removes its disk."""
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()
