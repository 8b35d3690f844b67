"""NumPy oracle of all arithmetic and random numbers, written from SPEC.md alone.

The module has the functions of the native API, so it can stand in for the C kernels: `import
microzo_host.reference`. Exact and readable rather than fast; one file a subject.
"""

from .api import (  # noqa: F401
    apply_grad,
    assign,
    check_seal,
    crc32,
    derive,
    export_weights,
    forward,
    head_grad,
    init_state,
    input,
    loss,
    node,
    node_grad,
    patch_sums,
    probe,
    realign,
    requant,
    seal,
    shuffle,
    signs,
    stats,
    stats_finish,
    tail_grad,
    update,
    version,
)
from .color_api import color_map, color_mix, color_sums  # noqa: F401
