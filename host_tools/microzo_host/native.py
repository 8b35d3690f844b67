"""The C kernels for CPython: the functions of SPEC.md section 4.

The library's own table gives names and signatures, so nothing is listed twice.
MICROZO_LIB names another library file; MICROZO_SANITIZE=1 takes the build with
sanitizers (tests/kernels/fuzz.py makes it), which needs its runtime preloaded.
"""

import ctypes
import os
import pathlib

_ROOT = pathlib.Path(__file__).resolve().parents[2]


def _sanitizing():
    return os.environ.get("MICROZO_SANITIZE", "") not in ("", "0")


def library_path():
    """The file that holds the kernels."""
    named = os.environ.get("MICROZO_LIB")
    if named:
        return pathlib.Path(named)
    folder = "host-sanitize" if _sanitizing() else "host"
    return _ROOT / "build" / folder / "libmicrozo.so"


def _load():
    path = library_path()
    if not path.is_file():
        raise ImportError(f"{path} is missing: run `make host-lib` to build the C kernels")
    if _sanitizing() and "libasan" not in pathlib.Path("/proc/self/maps").read_text():
        raise ImportError(
            "MICROZO_SANITIZE needs the sanitizer's runtime in the process: set "
            "LD_PRELOAD=$(gcc -print-file-name=libasan.so)"
        )
    try:
        library = ctypes.PyDLL(str(path))
    except OSError as error:
        raise ImportError(
            f"{path} cannot be loaded ({error}): run `make host-lib` again"
        ) from None
    library.microzo_name.restype = ctypes.c_char_p
    library.microzo_signature.restype = ctypes.c_char_p
    library.microzo_call.argtypes = (ctypes.c_int, ctypes.py_object)
    return library


def _function(call, index, name, signature):
    kinds = {"r": "buffer", "w": "writable buffer", "i": "int"}

    def function(*args):
        return call(index, args)

    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = f"{name}({', '.join(kinds[letter] for letter in signature)}) -> int"
    return function


def _publish():
    """Binds every function of the library's table in this module."""
    names = []
    index = 0
    while _library.microzo_name(index) is not None:
        name = _library.microzo_name(index).decode()
        signature = _library.microzo_signature(index).decode()
        globals()[name] = _function(_library.microzo_call, index, name, signature)
        SIGNATURES[name] = signature
        names.append(name)
        index += 1
    return names


def vectors(on=True):
    """Takes the kernels with vectors if the processor has them, or those without; the bits are the
    same. True if they have."""
    return bool(_library.microzo_vectors(int(on)))


SIGNATURES = {}
_library = _load()
vectors()
__all__ = _publish()
