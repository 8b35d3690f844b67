"""Losses of perturbed passes (SPEC.md, section 1.5)."""

from struct import pack_into, unpack_from

from ...net import words as L
from .buffers import check, check_out, integer
from .loss import cross_entropy
from .net import Net
from .rng import check_seed


def probe(plan, blob, state, arena, params, out):
    net = Net(plan, blob, state, arena, (state, arena))
    check(params, 0, 32)
    first, seed, label, mode, what, lo, hi, eps_shift = unpack_from("<8i", params, 0)
    check_out(out, 4 * (L.KEPT + 8) if mode & 4 else 8)
    check_seed(seed)
    integer(lo, 0, integer(hi, 0, net.n_ops, "hi"), "lo")
    integer(what, 0, 7, "what")
    integer(label, 0, net.classes - 1, "the label")
    integer(mode, 0, 7, "mode")
    integer(eps_shift, 0, 31, "eps_shift")
    net.check_range(first, net.n_ops)
    losses = [0, 0]
    for i in range(1 if mode & 2 else 2):
        net.run(first, net.n_ops, (mode & 1, 1 - 2 * i, seed, what, lo, hi, eps_shift))
        losses[i] = cross_entropy(net.logits(), label)
    pack_into("<2i", out, 0, *losses)
    return 0
