"""CONV, DWCONV and DENSE, which is a CONV of an image of one position."""

from struct import pack_into

from ...net import words as L
from .buffers import get
from .perturb import fraction, rows, scales
from .requant import requantized, rounded_once
from .window import accumulators


def run(net, o, index, how):
    x = net.tensor(o)
    f = fraction(o, how)
    scaled = rounded_once if o[L.FLAGS] & L.ROUND_ONCE else requantized
    channels, zp, low, high = o[L.OUT_C], o[L.OUT_ZP], o[L.ACT_MIN], o[L.ACT_MAX]
    each_scale = scales(net, o, index, how)
    for c, w, bias in rows(net, o, index, how):
        mult, shift = next(each_scale)
        at = o[L.OUT_OFF] + c
        for acc in accumulators(o, x, c, w, bias):
            v = scaled(acc, mult, shift - f) + zp
            pack_into("b", net.arena, at, low if v < low else high if v > high else v)
            at += channels
        if o[L.FLAGS] & L.EMIT_LOGITS:
            mult = get("<i", net.blob, o[L.L_OFF] + 4 * c)
            net.set_logit(c, requantized(acc, mult, get("b", net.blob, o[L.LS_OFF] + c) - f))
