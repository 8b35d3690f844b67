"""Choice of the kernels: the C module where there is one, else Python (SPEC.md, section 4)."""

import sys
from array import array

from . import choose, chosen

_ARCHS = (
    "",
    "x86",
    "x64",
    "armv6",
    "armv6m",
    "armv7m",
    "armv7em",
    "armv7emsp",
    "armv7emdp",
    "xtensa",
    "xtensawin",
    "rv32imc",
    "rv64imc",
)


def kernels():
    """The module with the functions of SPEC.md, section 4."""
    return chosen() or use(_find())


def use(module):
    """Makes `module` the kernels of every model loaded from now on; returns it."""
    _self_test(module)
    choose(module)
    return module


def board_arch():
    """Name of the native architecture of this interpreter, "" if it loads no native code."""
    number = getattr(sys.implementation, "_mpy", 0) >> 10 & 15
    return _ARCHS[number] if number < len(_ARCHS) else "arch %d" % number


def _find():
    if sys.implementation.name == "cpython":
        return _find_host()
    try:
        import _microzo

        return _microzo
    except ImportError as e:
        if "no module" not in str(e):
            raise
    except ValueError:
        arch = board_arch()
        raise ImportError(
            "_microzo.mpy is not for this board (it loads %s): `microzo push` sends the right one"
            % (
                arch + " code of .mpy version %d" % (sys.implementation._mpy & 255)
                if arch
                else "no native code"
            )
        )
    from . import python as pykernels

    print("microzo: no _microzo module on this board, running the slow pure-Python kernels")
    return pykernels


def _find_host():
    try:
        from microzo_host import native

        return native
    except (ImportError, OSError) as e:
        from microzo_host import reference as oracle

        print("microzo: %s; running the slow NumPy kernels" % e, file=sys.stderr)
        return oracle


def _self_test(module):
    """One random word and one requantization, to meet a miscompiled module early."""
    if module.version() // 100 != 1:
        raise ImportError(
            "the kernels have version %d, this microzo needs 1xx: update both" % module.version()
        )
    out = array("i", (0, 0))
    module.requant(array("i", (1000, -1001)), 1 << 30, -1, out)
    if module.derive(1, 2, 3) != 772759520 or out[0] != 250 or out[1] != -250:
        raise ImportError(
            "the kernels of %s give wrong numbers: build them again" % module.__name__
        )
