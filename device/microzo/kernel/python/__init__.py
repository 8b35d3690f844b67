"""The native API (SPEC.md, section 4) in Python alone: for boards that load no native code, and to
read.

Bit-identical to the C kernels, some hundred times slower, and it allocates. What Python cannot see
is not refused: the address of a buffer, the size of its items, and whether it overlaps another.
Runs on MicroPython, CircuitPython and CPython. What only training needs is imported when it is
first asked for, as is each kind of operator: code takes RAM on a board.
"""

from ... import _module
from ...net import words as L
from .crc import check_seal, crc32, seal
from .loss import loss
from .net import forward, hold, input
from .requant import requant
from .rng import derive, shuffle, signs

__all__ = (
    "check_seal", "crc32", "derive", "forward", "hold", "input", "loss", "requant", "seal",
    "shuffle", "signs",
)  # fmt: skip

# Where the others are. Some modules have the name of a function, which takes their place in this
# package: no other module here may import one of those.
LATE = {
    "probe": "probe",
    "update": "update",
    "init_state": "state",
    "assign": "state",
    "export_weights": "state",
    "stats": "stats",
    "stats_finish": "stats",
    "realign": "realign",
    "patch_sums": "patches",
    "head_grad": "gradient",
    "tail_grad": "tail",
    "apply_grad": "gradient",
    "node": "node",
    "node_grad": "node",
}


def version():
    return 100 * L.VERSION_MAJOR + L.VERSION_MINOR


def __getattr__(name):
    if name not in LATE:
        raise AttributeError("the kernels have no function " + name)
    home = _module("kernel.python." + LATE[name], name)
    for other in LATE:
        if LATE[other] == LATE[name]:
            globals()[other] = getattr(home, other)
    return globals()[name]
