"""What a board has, and what it lacks."""

import dataclasses
import pathlib

from . import files as board_files
from . import info as board_info
from . import push


@dataclasses.dataclass(frozen=True)
class Examination:
    """``free``: bytes of the file system, or None; ``fitting``: the native module that fits, or
    None; ``problems``: sentences with their cures."""

    info: board_info.BoardInfo
    free: int | None
    fitting: pathlib.Path | None
    problems: list


def examine(link):
    """The Examination of the board at a link; nothing on it is changed."""
    info = board_info.ask(link)
    files = board_files.Files(link)
    installed = {t: files.state(t)[0] >= 0 for t in _package_targets()}
    free = files.free()
    fitting = board_info.choose_module(info, push.built_modules())
    header = board_info.installed_module(link)
    problems = [*_problems(info, fitting, installed, free, header), *push.hidden(files)]
    if all(installed.values()):
        problems.append(
            "the package is on the board twice, and the source wins: run `microzo push`"
        )
    return Examination(info, free, fitting, problems)


def _package_targets():
    """The package's entry, compiled or as source."""
    return [f"{push.PACKAGE_TARGET}/__init__{suffix}" for suffix in (".mpy", ".py")]


def _problems(info, fitting, installed, free, header):
    if info.implementation == "micropython" and info.version[:2] < board_info.OLDEST:
        yield "MicroPython is older than 1.24: install a newer one"
    if not any(installed.values()):
        yield "the package microzo is not on the board: run `microzo push`"
    cure = "run `microzo push`" if fitting else board_info.module_cure(info)
    if header and not board_info.accepts(info, *header):
        arch, abi = header
        yield (
            f"the native module on the board is for {arch} with ABI {abi}, "
            f"the board needs {info.arch} with ABI {info.abi}: {cure}"
        )
    elif info.module == "absent" and info.arch != "none":
        yield f"the native module is not on the board: {cure}"
    elif info.module not in ("absent", "built in") and not info.module.endswith(".mpy"):
        yield f"the native module on the board does not load ({info.module}): {cure}"
    if free is None:
        yield "no file system is mounted at /"
