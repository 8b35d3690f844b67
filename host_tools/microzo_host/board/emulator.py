"""Emulated boards: QEMU with real MicroPython, and the unix port.

    with Board(ram="256K", usermod=False, fs={"main.py": b"print(1)"}) as b:
        b.port                      # what mpremote connects to, e.g. /dev/pts/3
        b.exec("print(6 * 7)")      # -> "42\\r\\n"; an exception on the board: ScriptError
        b.run("device/examples/train.py", follow=print)
        b.mpremote("fs", "ls")      # the mpremote command itself, output returned
        b.restart()                 # power cut and start; the disk stays
        b.kill()                    # power cut
        b.read_files()              # {"main.py": b"..."}: the disk, read by the host
        b.failure                   # None, or what ended the emulator

`fs` maps paths on the board to a host file, a folder or bytes, and goes into a new disk;
`disk=FILE` keeps (or continues) the disk in that file; `romfs=` is a ROMFS image (a file or
bytes) mapped at /rom; `icount=True` makes ticks follow the instruction count: then
`time.ticks_cpu()` counts `b.core.ticks_per_instruction`, 1.6 on the Cortex-M4F.
`core=` is a key of `CORES`; all but "m4" come from `make firmware-all` in a clone.
`Unix(usermod=True).run("script.py", args)` runs the unix port and returns what it printed.
`microzo emulator` starts a board and keeps it until Ctrl-C.
"""

import atexit
import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from .. import place
from . import disk_image
from .errors import EmulatorError, LinkError
from .link import Link

FIRMWARE = place.parts("firmware")
UNIX = place.parts("unix")
CLONE_ONLY = "it comes only with a clone of microzo, not with the installed package"

# Memory that QEMU keeps in a host file: the disk, then the ROMFS (boards/*/board.h).
ROMFS_BYTES = 8 << 20

# With -icount shift=N an instruction takes 2^N ns.
ICOUNT_SHIFT = 6


@dataclass(frozen=True)
class Core:
    """One kind of emulated board."""

    machine: str  # of QEMU
    arch: str  # of its native modules
    firmware: str  # the folder of boards/, in lower case
    clock: int = 25_000_000
    qemu: str = "qemu-system-arm"
    package: str = "qemu-system-arm"  # of Debian, with that command
    memory: int = disk_image.BYTES + ROMFS_BYTES  # bytes in the host file; more holds code and RAM

    @property
    def ticks_per_instruction(self):
        return self.clock * (1 << ICOUNT_SHIFT) / 1e9


CORES = {
    "m4": Core("mps2-an386", "armv7emsp", "mps2-an386"),
    "m3": Core("mps2-an385", "armv7m", "mps2-an385"),
    "m0plus": Core("mps2-an385", "armv6m", "mps2-an385-m0plus"),
    "m7": Core("mps2-an500", "armv7emdp", "mps2-an500"),
    "m33": Core("mps2-an505", "armv7emsp", "mps2-an505", 20_000_000),
    "rv32": Core(
        "virt",
        "rv32imc",
        "virt-rv32",
        10_000_000,
        "qemu-system-riscv32",
        "qemu-system-misc",
        memory=24 << 20,
    ),
}
TICKS_PER_INSTRUCTION = CORES["m4"].ticks_per_instruction

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None  # commands load everywhere
_running = set()


def _die_with_parent():
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


@atexit.register
def _kill_all():
    for board in list(_running):
        board.close()


class Board:
    """One emulated board; a context manager, also usable through start() and close()."""

    def __init__(
        self,
        ram="256K",
        usermod=False,
        fs=None,
        disk=None,
        romfs=None,
        icount=False,
        firmware=None,
        core="m4",
    ):
        kind = "usermod" if usermod else "stock"
        self.core = CORES[core]
        self.firmware = Path(firmware or FIRMWARE / f"{self.core.firmware}-{ram}-{kind}.elf")
        self.icount = icount
        self.port = None
        self._process = None
        self._link = None
        self._folder = None
        if not self.firmware.is_file():
            target = "make firmware" if core == "m4" else "make firmware-all"
            raise EmulatorError(f"no {self.firmware.name} here: {place.cure(target, CLONE_ONLY)}")
        if not shutil.which(self.core.qemu):
            target = "make setup" if core == "m4" else "make firmware-all"
            cure = place.cure(target, f"install QEMU (Debian: apt install {self.core.package})")
            raise EmulatorError(f"{self.core.qemu} is not installed: {cure}")
        self._folder = tempfile.mkdtemp(prefix="microzo-board-")
        self._log = Path(self._folder, "qemu.log")
        self.disk = Path(disk) if disk else Path(self._folder, "disk.img")
        try:
            self._prepare_disk(fs, romfs)
        except BaseException:
            self.close()
            raise

    def _prepare_disk(self, fs, romfs):
        new = not self.disk.exists()
        with open(self.disk, "wb" if new else "r+b") as f:
            f.truncate(self.core.memory)
            if fs is not None:
                f.write(disk_image.make(fs))
            if romfs is not None:
                data = romfs if isinstance(romfs, bytes) else Path(romfs).read_bytes()
                if len(data) > ROMFS_BYTES:
                    raise EmulatorError(
                        f"the ROMFS image has {len(data)} bytes, the board {ROMFS_BYTES}."
                    )
                f.seek(disk_image.BYTES)
                f.write(data)

    def command(self, serial="pty"):
        """The command line that starts QEMU."""
        load = ["-kernel", str(self.firmware)]
        if self.core.machine == "virt":
            # It would start at the disk: the loader sets the program counter.
            load = ["-bios", "none", "-device", f"loader,file={self.firmware},cpu-num=0"]
        size = f"{self.core.memory >> 20}M"
        memory = f"memory-backend-file,id=mem0,size={size},mem-path={self.disk},share=on"
        command = [self.core.qemu, "-object", memory]
        command += ["-machine", f"{self.core.machine},memory-backend=mem0", "-m", size, *load]
        command += ["-display", "none", "-monitor", "null", "-semihosting", "-serial", serial]
        if self.icount:
            command += ["-icount", f"shift={ICOUNT_SHIFT},sleep=off"]
        return command

    def start(self):
        """Switches the board on and returns it once its serial port is there."""
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(
                self.command(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=_die_with_parent,
            )
        _running.add(self)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            if found := re.search(r"redirected to (\S+)", self._log.read_text(errors="replace")):
                self.port = found[1]
                return self
            if self._process.poll() is not None:
                break
            time.sleep(0.01)
        text = self._log.read_text(errors="replace").strip()
        self.close()
        raise EmulatorError(f"QEMU did not start: {text or 'no output'}")

    def kill(self):
        """Cuts the power: nothing is flushed, the disk stays as it was at that moment."""
        self.release()
        if self._process and self._process.poll() is None:
            self._process.kill()
        if self._process:
            self._process.wait()
        self.port = None
        _running.discard(self)

    def restart(self):
        """Cuts the power and switches on again."""
        self.kill()
        return self.start()

    def close(self):
        """Ends the emulator and removes what belongs to it; a `disk=FILE` stays."""
        self.kill()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def __enter__(self):
        return self if self._process else self.start()

    def __exit__(self, *exc):
        self.close()

    @property
    def pid(self):
        """The emulator's process id."""
        return self._process.pid

    @property
    def failure(self):
        """None while the board runs, else why it stopped: its fault line or QEMU's words."""
        if self._process is None or self._process.poll() is None:
            return None
        text = self._log.read_text(errors="replace") if self._log.exists() else ""
        if fault := re.search(r"FAULT: .*", text):
            return fault[0].strip()
        return f"the emulator exited with status {self._process.returncode}"

    # Talking to it ------------------------------------------------------------------------

    def link(self):
        """The board's Link, in the raw REPL; the port is busy meanwhile."""
        if self._link is None:
            self._link = Link(self.port, reset=False)
        return self._link

    def transport(self):
        """mpremote's own serial transport, for what a Link does not do."""
        return self.link().transport

    def release(self):
        """Leaves the raw REPL and the port to another program."""
        if self._link is not None:
            link, self._link = self._link, None
            link.close()

    def exec(self, code, timeout=300, follow=None):
        """Runs code on the board and returns its output; `follow` gets text as it comes.

        `timeout` is in seconds without any output. ScriptError: the code raised; EmulatorError:
        the board stopped.
        """
        try:
            return self.link().exec(code, timeout, follow)
        except LinkError as error:
            self._settle()
            self.release()
            raise EmulatorError(self.failure or str(error)) from None

    def run(self, script, timeout=300, follow=None):
        """Runs a host file on the board, as `mpremote run` does."""
        return self.exec(Path(script).read_bytes(), timeout, follow)

    def soft_reset(self):
        """Ctrl-D: a new interpreter, the same files."""
        self.link().soft_reset()

    def mpremote(self, *args, check=True, timeout=120, **kwargs):
        """Runs the mpremote command on this board and returns what it printed."""
        self.release()
        command = [sys.executable, "-m", "mpremote", "connect", self.port, *args]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=timeout,
                preexec_fn=_die_with_parent,
                **kwargs,
            )
        except subprocess.TimeoutExpired:
            raise EmulatorError(f"`mpremote {args[0]}` took more than {timeout} s.") from None
        text = done.stdout.decode(errors="replace")
        if check and done.returncode:
            raise EmulatorError(self.failure or f"mpremote {' '.join(args)}: {text.strip()}")
        return text

    def read_files(self):
        """Returns {path: bytes} of the disk; for a board that is off."""
        return disk_image.files(self.disk)

    def _settle(self):
        """Gives a faulting emulator the moment it takes to end."""
        try:
            self._process.wait(1)
        except subprocess.TimeoutExpired:
            pass


class Unix:
    """The unix port of MicroPython, with the module built in or without; MICROZO_UNIX names
    another interpreter to take in place of the one without."""

    def __init__(self, usermod=False, heap="4M", path=None):
        self.binary = UNIX / ("micropython-usermod" if usermod else "micropython")
        if not usermod and os.environ.get("MICROZO_UNIX"):
            self.binary = Path(os.environ["MICROZO_UNIX"]).absolute()
        self.heap = heap
        self.path = path
        if not self.binary.is_file():
            raise EmulatorError(
                f"no {self.binary.name} here: {place.cure('make unix', CLONE_ONLY)}"
            )

    def run(self, script, *args, timeout=120, cwd=None):
        """Runs a script (a file, or code as bytes) and returns its standard output."""
        what = ["-c", script.decode()] if isinstance(script, bytes) else [str(script)]
        env = dict(os.environ)
        if self.path is not None:
            env["MICROPYPATH"] = ":".join(str(p) for p in self.path)
        done = subprocess.run(
            [str(self.binary), "-X", f"heapsize={self.heap}", *what, *map(str, args)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            cwd=cwd,
            env=env,
            preexec_fn=_die_with_parent,
        )
        if done.returncode:
            text = (done.stdout + done.stderr).decode(errors="replace").strip()
            raise EmulatorError(f"the unix port ended with status {done.returncode}: {text}")
        return done.stdout.decode(errors="replace")
