"""What a board is and which native module runs on it, decided from ``_mpy`` alone."""

import dataclasses
import pathlib

from .. import place
from .errors import BoardError, ScriptError

ARCHES = (
    "none", "x86", "x64", "armv6", "armv6m", "armv7m", "armv7em", "armv7emsp", "armv7emdp",
    "xtensa", "xtensawin", "rv32imc", "rv64imc",
)  # fmt: skip
ARMV6M, ARMV7EMDP = ARCHES.index("armv6m"), ARCHES.index("armv7emdp")
OLDEST = (1, 24)  # older versions lose a native module's data to the garbage collector


@dataclasses.dataclass
class BoardInfo:
    """``arch``: a name of ARCHES; ``abi``: such as "6.3"; ``module``: _microzo's place."""

    machine: str
    implementation: str
    version: tuple
    arch: str
    abi: str
    heap_free: int
    module: str

    def __str__(self):
        version = ".".join(map(str, self.version))
        return f"{self.machine}: {self.implementation} {version}, {self.arch}, ABI {self.abi}"


def ask(link):
    """The BoardInfo of the board behind a link."""
    link.exec("import sys, gc\ngc.collect()")
    name, version, mpy, machine, free = link.value(
        "(sys.implementation.name, tuple(sys.implementation.version[:3]),"
        " getattr(sys.implementation, '_mpy', 0),"
        " getattr(sys.implementation, '_machine', 'a board'), gc.mem_free())",
        (str, (int, int, int), int, str, int),
    )
    arch, abi = parse_mpy(mpy)
    return BoardInfo(machine, name, version, arch, abi, free, _module(link))


def parse_mpy(mpy):
    """(architecture, ABI) of a board's ``sys.implementation._mpy``."""
    code = (mpy >> 10) & 0xF
    arch = ARCHES[code] if code < len(ARCHES) else f"arch{code}"
    return arch, f"{mpy & 0xFF}.{(mpy >> 8) & 3}"


def parse_header(raw):
    """(architecture, ABI) of a .mpy file, or None if it is none."""
    if len(raw) < 4 or raw[:1] != b"M":
        return None
    code = (raw[2] >> 2) & 0xF
    arch = ARCHES[code] if code < len(ARCHES) else f"arch{code}"
    return arch, f"{raw[1]}.{raw[2] & 3}"


def accepts(info, arch, abi):
    """Whether a board loads a native module of this architecture and ABI."""
    if arch == "none" or abi != info.abi:
        return False
    own, other = (ARCHES.index(a) if a in ARCHES else -1 for a in (info.arch, arch))
    if ARMV6M <= own <= ARMV7EMDP:
        return ARMV6M <= other <= own
    return own == other


def module_cure(info):
    """How to get the native module for a board."""
    return place.cure(
        f"make natmod ARCHS={info.arch}", "install a newer microzo, which may have it"
    )


def check_module(info, path):
    """Raise unless the native module file at ``path`` runs on the board."""
    header = parse_header(pathlib.Path(path).read_bytes())
    if header is None:
        raise ValueError(f"{path} is no MicroPython module: give a .mpy file made for {info.arch}")
    arch, abi = header
    if not accepts(info, arch, abi):
        raise ValueError(
            f"{path} is for {arch} with ABI {abi}, this board needs {info.arch} with ABI "
            f"{info.abi}: {module_cure(info)}"
        )


def choose_module(info, candidates):
    """The candidate .mpy that fits the board best, or None; exact architecture first."""
    fitting = []
    for path in candidates:
        header = parse_header(pathlib.Path(path).read_bytes())
        if header and accepts(info, *header):
            fitting.append((ARCHES.index(header[0]), str(path)))
    return pathlib.Path(max(fitting)[1]) if fitting else None


def check_version(info):
    """Refuse MicroPython older than 1.24."""
    if info.implementation == "micropython" and info.version[:2] < OLDEST:
        raise BoardError(
            f"the board runs MicroPython {'.'.join(map(str, info.version))}: "
            f"install 1.24 or newer on it"
        )


def installed_module(link):
    """(architecture, ABI) of the native module file on the board, None if it has none."""
    link.exec(
        "def _mz_header():\n"
        " for folder in sys.path:\n"
        "  try:\n"
        "   with open(folder + '/_microzo.mpy', 'rb') as f:\n"
        "    return f.read(4)\n"
        "  except OSError:\n"
        "   pass\n"
        " return b''"
    )
    return parse_header(link.value("_mz_header()", bytes))


def _module(link):
    """``built in``, the file's path, ``absent`` or the reason why it does not load."""
    try:
        link.exec("import _microzo")
    except ScriptError as error:
        if "ImportError: no module" in error.traceback:
            return "absent"
        return error.traceback.strip().splitlines()[-1] if error.traceback.strip() else "unknown"
    return link.value("getattr(_microzo, '__file__', 'built in')", str)
