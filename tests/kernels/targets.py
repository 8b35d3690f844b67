"""Where cases run: modules of this Python, the unix port, the emulated board.

KINDS lists them. Under CI=true or MICROZO_STRICT=1 a missing target is a failure, else its tests
are skipped.
"""

import io
import os
import subprocess
import tempfile
from pathlib import Path

import caseformat
import device_runner
import pytest

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
PYTHON = "microzo.kernel.python"
FULL = os.environ.get("MICROZO_FULL", "") not in ("", "0")
STRICT = os.environ.get("CI") == "true" or os.environ.get("MICROZO_STRICT", "") not in ("", "0")


class Missing(Exception):
    """What is not built, and how to build it."""


class Local:
    """A module of this Python. `slow` ones are the pure-Python kernels."""

    def __init__(self, name, nets):
        self.nets, self.slow = nets, name == PYTHON
        try:
            self.module = device_runner.load(name)
        except (ImportError, OSError) as e:
            raise Missing(str(e)) from None

    def run(self, cases):
        """Mismatches, one line each."""
        stream = io.BytesIO(caseformat.pack_all(cases))
        return [
            f"{i}: {m}" for i, m in enumerate(device_runner.run_stream(self.module, stream)) if m
        ]


class LocalBaseline(Local):
    """The host library's kernels without vectors."""

    def run(self, cases):
        self.module.vectors(False)
        try:
            return super().run(cases)
        finally:
            self.module.vectors(True)


def parse(text, count):
    """Mismatches in what device_runner printed; it must have come to its end."""
    lines = text.split("\n")
    lines = [line.strip() for line in lines if line.strip()]
    bad = [line for line in lines if line.startswith("MISMATCH")]
    if not lines or lines[-1] != f"DONE {count} {len(bad)}":
        return [*bad, "the run did not end: " + " / ".join(lines[-5:])]
    return bad


class UnixPort:
    """The unix port of MicroPython with a module built in, a native module, or Python kernels."""

    def __init__(self, kind, nets):
        from microzo_host.board.emulator import Unix
        from microzo_host.board.errors import EmulatorError

        self.nets, self.slow = nets, kind == "pykernels"
        self.name = PYTHON if kind == "pykernels" else "_microzo"
        path = [HERE, ROOT / "device"]
        if kind == "natmod":
            path.append(native_module("x64").parent)
        try:
            self.unix = Unix(usermod=kind in ("usermod", "sanitize"), heap="32M", path=path)
        except EmulatorError as e:
            raise Missing(str(e)) from None
        if kind == "sanitize":
            self.unix.binary = sanitized_unix_port()

    def run(self, cases):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "cases.bin")
            path.write_bytes(caseformat.pack_all(cases))
            text = self.unix.run(HERE / "device_runner.py", self.name, path, timeout=500)
        return parse(text, len(cases))


def sanitized_unix_port():
    """The unix port under the address and undefined-behaviour sanitizers: any finding ends it."""
    # make sets these; the defaults serve a pytest started by hand.
    env = {"MPY": "build/micropython-1.25.0", "OBJDIR": "build/obj-1.25.0", **os.environ}
    command = ["sh", "boards/tools/build_unix.sh"]
    done = subprocess.run(
        command, cwd=ROOT, env=env | {"SANITIZE": "1"}, capture_output=True, text=True
    )
    if done.returncode:
        raise Missing("boards/tools/build_unix.sh: " + (done.stdout + done.stderr)[-2000:])
    return ROOT / "build" / "unix" / "micropython-sanitize"


class EmulatedBoard:
    """The board: firmware with the module, or stock firmware and the native module or Python."""

    def __init__(self, kind, nets):
        from microzo_host.board import emulator, errors

        core, _, kind = kind.rpartition(":")  # as in "m3:natmod"; the M4F has no prefix
        core = core or "m4"
        self.nets, self.slow = nets, kind == "pykernels"
        self.emulator, self.errors = emulator, errors
        ram = "1M" if self.slow else "256K"  # it compiles the Python kernels
        self.where = {"ram": ram, "usermod": kind == "usermod", "core": core}
        self.name = PYTHON if self.slow else "_microzo"
        self.files = {"device_runner.py": HERE / "device_runner.py"}
        if kind == "natmod":
            folder = native_module(emulator.CORES[core].arch).parent
            self.files |= {f"lib/{f.name}": f.read_bytes() for f in folder.glob("_microzo*.mpy")}
        if self.slow:
            for path in (ROOT / "device" / "microzo").rglob("*.py"):
                self.files[path.relative_to(ROOT / "device").as_posix()] = path
        try:
            emulator.Board(**self.where).close()
        except errors.EmulatorError as e:
            raise Missing(str(e)) from None

    def run(self, cases):
        if not self.slow and not self.where["usermod"]:  # its two modules have no recolor
            cases = [case for case in cases if case.function[:6] != "color_"]
        fs = {"cases.bin": caseformat.pack_all(cases), **self.files}
        code = f"import device_runner; device_runner.run({self.name!r}, 'cases.bin')"
        with self.emulator.Board(fs=fs, **self.where) as board:
            try:
                return parse(board.exec(code, timeout=300), len(cases))
            except self.errors.BoardError as e:
                return [f"the board failed: {e}"]


def native_module(arch):
    path = ROOT / "build" / "natmod" / arch / "_microzo.mpy"
    if not path.is_file():
        raise Missing(f"{path.relative_to(ROOT)} is not built; run `make natmod` first.")
    return path


# name -> (class, its argument, networks of a normal run)
KINDS = {
    "native": (Local, "microzo_host.native", 200),
    "native-baseline": (LocalBaseline, "microzo_host.native", 100),
    "pykernels": (Local, PYTHON, 30),
    "unix-usermod": (UnixPort, "usermod", 100),
    "unix-natmod": (UnixPort, "natmod", 100),
    "unix-pykernels": (UnixPort, "pykernels", 12),
    "board-usermod": (EmulatedBoard, "usermod", 50),
    "board-natmod": (EmulatedBoard, "natmod", 50),
    "board-pykernels": (EmulatedBoard, "pykernels", 5),
}
if FULL:
    KINDS["unix-sanitize"] = (UnixPort, "sanitize", 20)
    for core in ("m3", "m0plus", "m7", "m33", "rv32"):
        for kind in ("usermod", "natmod"):
            KINDS[f"{core}-{kind}"] = (EmulatedBoard, f"{core}:{kind}", 5)


def params():
    """The names, as parameters of a fixture: what runs on an emulated board is marked."""
    for name, (kind, *_) in KINDS.items():
        yield pytest.param(name, marks=pytest.mark.board if kind is EmulatedBoard else ())


def make(name):
    kind, argument, nets = KINDS[name]
    try:
        return kind(argument, nets * (10 if FULL else 1))
    except Missing as e:
        if STRICT:
            pytest.fail(f"target {name}: {e}")
        pytest.skip(str(e))
