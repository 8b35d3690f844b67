"""Sums over patches of the input at drawn places (SPEC.md, sections 1.11 and 4)."""

from struct import pack_into

from ...net import words as L
from ...net.arena import row_len
from .buffers import check_out, get, int8s, integer, require
from .net import Net
from .rng import check_seed, derive


def patch_sums(plan, arena, seed, sample, patches, sums, products):
    net = Net(plan, b"", b"", arena, (arena,))
    o = net.op(0)
    high = o[L.IN_H] - o[L.K_H] + 1
    wide = o[L.IN_W] - o[L.K_W] + 1
    k = row_len(o, 0)
    require(o[L.KIND] == L.CONV, "operator 0 is no CONV")
    require(high > 0 and wide > 0 and k <= 255, "the patches do not fit")
    check_seed(seed)
    integer(sample, 0, (1 << 28) - 1, "sample")
    integer(patches, 0, (1 << 16) - 1, "patches")
    check_out(sums, 4 * k)
    check_out(products, 2 * k * (k + 1))
    net.check_tensors(o)
    row = o[L.IN_W] * o[L.IN_C]
    for p in range(patches):
        corner = derive(seed, sample, p)
        at = o[L.IN_OFF] + (corner >> 15) % high * row + (corner & 32767) % wide * o[L.IN_C]
        patch = []
        for _ in range(o[L.K_H]):
            patch += int8s(arena, at, o[L.K_W] * o[L.IN_C])
            at += row
        to = 0
        for i in range(k):
            _add(sums, i, patch[i])
            for j in range(i + 1):
                _add(products, to, patch[i] * patch[j])
                to += 1
    return 0


def _add(sums, i, v):
    """Modulo 2^32."""
    v = get("<i", sums, 4 * i) + v & 0xFFFFFFFF
    pack_into("<i", sums, 4 * i, v - (v >> 31 << 32))
