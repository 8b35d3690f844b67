"""Cross-entropy and its error (SPEC.md, section 1.6)."""

from struct import pack_into

from .buffers import check, check_out, has, integer
from .net import Net

_EXP2 = (-1386547, 10303976, -59591327, 257940679, -744261105, 1 << 30)


def _exponential(d):
    """2^20 * exp(-d / 4096)"""
    t = d * 94548 >> 12
    x = (t & 0xFFFF) << 14
    p = 123425
    for coefficient in _EXP2:
        p = coefficient + (p * x >> 30)
    return p >> 10 >> (t >> 16) if t >> 16 <= 20 else 0


def cross_entropy(z, label, err=None):
    """Loss Q12; writes Q15 values to err unless it is None."""
    top = max(z)
    e = [_exponential(top - v) for v in z]
    total = sum(e)
    if err is not None:
        for i in range(len(z)):
            v = (e[i] << 11) // (total >> 4) - (32768 if i == label else 0)
            pack_into("<i", err, 4 * i, v)
    k = 20
    while total >> k + 1:
        k += 1
    v = total << 30 - k
    frac = 0
    for _ in range(16):
        v = v * v >> 30
        frac <<= 1
        if v >> 31:
            frac += 1
            v >>= 1
    return top - z[label] + ((k - 20 << 16 | frac) * 45426 >> 20)


def loss(plan, arena, label, err):
    net = Net(plan, arena=arena)
    integer(label, 0, net.classes - 1, "the label")
    net.check_logits()
    check_out(err)
    if not has(err, 1):
        return cross_entropy(net.logits(), label)
    check(err, 0, 4 * net.classes)
    return cross_entropy(net.logits(), label, err)
