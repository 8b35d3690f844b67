"""The C kernels for CPython: the functions of SPEC.md section 4.

They are the extension module `_native` of the installed package, or, in a clone, the one that
the Makefile built. MICROZO_LIB names another file of it; MICROZO_SANITIZE=1 takes the build with
sanitizers (tests/kernels/fuzz.py makes it), which needs its runtime preloaded.
"""

import importlib.machinery
import importlib.util
import os
import pathlib

from . import place

FILE = "_native.abi3.so"


def _sanitizing():
    return os.environ.get("MICROZO_SANITIZE", "") not in ("", "0")


def library_path():
    """The file that holds the kernels."""
    named = os.environ.get("MICROZO_LIB")
    if named:
        return pathlib.Path(named)
    if place.CLONE is None:
        return place.PACKAGE / FILE
    return place.CLONE / "build" / ("host-sanitize" if _sanitizing() else "host") / FILE


def _load():
    path = library_path()
    again = place.cure("make host-lib", "install microzo again, where there is a C compiler")
    if not path.is_file():
        raise ImportError(f"the C kernels are not built: {again}")
    if _sanitizing() and "libasan" not in pathlib.Path("/proc/self/maps").read_text():
        raise ImportError(
            "MICROZO_SANITIZE needs the sanitizer's runtime in the process: set "
            "LD_PRELOAD=$(gcc -print-file-name=libasan.so)"
        )
    loader = importlib.machinery.ExtensionFileLoader(f"{__package__}._native", str(path))
    try:
        spec = importlib.util.spec_from_loader(loader.name, loader)
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
    except ImportError as error:
        raise ImportError(f"{path} cannot be loaded ({error}): {again}") from None
    return module


_library = _load()
SIGNATURES = _library.SIGNATURES
vectors = _library.vectors
__all__ = list(SIGNATURES)
globals().update({name: getattr(_library, name) for name in SIGNATURES})
