"""AVGPOOL, MAXPOOL, MEAN."""

from struct import pack_into

from ...net import words as L
from .requant import requantized, sat
from .window import window


def run(net, o, index, how):
    x = net.tensor(o)
    kind, channels = o[L.KIND], o[L.IN_C]
    line = o[L.IN_W] * channels
    at = o[L.OUT_OFF]
    for oy in range(o[L.OUT_H]):
        y0, y1, top = window(o, 0, oy)
        for ox in range(o[L.OUT_W]):
            x0, x1, left = window(o, 1, ox)
            n = (y1 - y0) * (x1 - x0)
            first = (left + x0) * channels
            for c in range(first, first + channels):
                best = -128
                total = 0
                for y in range(top + y0, top + y1):
                    for i in range(y * line + c, y * line + c + (x1 - x0) * channels, channels):
                        v = x[i]
                        total += v
                        if v > best:
                            best = v
                if kind == L.MEAN:
                    v = requantized(total - n * o[L.IN_ZP], o[L.MULT], o[L.SHIFT]) + o[L.OUT_ZP]
                elif kind == L.AVGPOOL:
                    v = (2 * abs(total) + n) // (2 * n)
                    v = v if total > 0 else -v
                else:
                    v = best
                pack_into("b", net.arena, at, sat(v, o[L.ACT_MIN], o[L.ACT_MAX]))
                at += 1
