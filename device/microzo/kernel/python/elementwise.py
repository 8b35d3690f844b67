"""ADD, MUL, LUT, PAD, CONCAT: nothing is summed over a window."""

from struct import pack_into

from ...net import words as L
from ...net.arena import in2_size, in_size
from .buffers import copy, int8s
from .requant import requantized, sat


def run(net, o, index, how):
    kind = o[L.KIND]
    (_lut if kind == L.LUT else _pad if kind == L.PAD else _concat if kind == L.CONCAT else _two)(
        net, o
    )


def _two(net, o):
    """ADD, MUL: the second operand may be spread over positions, channels or both."""
    x = net.tensor(o)
    n = in2_size(o, 0)
    constant = o[L.IN2] == -1
    second = int8s(
        net.blob if constant else net.arena, o[L.W_OFF] if constant else o[L.IN2_OFF], n
    )
    each = o[L.IN_C] if o[L.FLAGS] & L.SPREAD_C else 1
    mult1, shift1, mult2, shift2, mult, shift = o[L.MULT1 : L.SHIFT + 1]
    for i in range(in_size(o, 0)):
        a = x[i] - o[L.IN_ZP]
        b = second[i // each % n] - o[L.IN2_ZP]
        if o[L.KIND] == L.MUL:
            v = a * b
        else:
            v = requantized(a << 20, mult1, shift1) + requantized(b << 20, mult2, shift2)
        v = requantized(v, mult, shift) + o[L.OUT_ZP]
        pack_into("b", net.arena, o[L.OUT_OFF] + i, sat(v, o[L.ACT_MIN], o[L.ACT_MAX]))


def _lut(net, o):
    table = int8s(net.blob, o[L.W_OFF], 256)
    at = o[L.OUT_OFF]
    x = net.tensor(o)
    for i in range(in_size(o, 0)):
        pack_into("b", net.arena, at + i, table[128 + x[i]])


def _pad(net, o):
    n = o[L.IN_C]
    at = o[L.OUT_OFF]
    border = bytes([o[L.IN_ZP] & 255]) * n
    for oy in range(o[L.OUT_H]):
        for ox in range(o[L.OUT_W]):
            y, x = oy - o[L.P_T], ox - o[L.P_L]
            if 0 <= y < o[L.IN_H] and 0 <= x < o[L.IN_W]:
                copy(net.arena, o[L.IN_OFF] + (y * o[L.IN_W] + x) * n, n, net.arena, at)
            else:
                pack_into("%ds" % n, net.arena, at, border)
            at += n


def _concat(net, o):
    """Rows of both tensors by turns; along height they are whole tensors."""
    rows = 1
    if o[L.OUT_H] == o[L.IN_H]:
        rows = o[L.IN_H] * (1 if o[L.OUT_W] > o[L.IN_W] else o[L.IN_W])
    first, second = in_size(o, 0) // rows, in2_size(o, 0) // rows
    at = o[L.OUT_OFF]
    for row in range(rows):
        copy(net.arena, o[L.IN_OFF] + row * first, first, net.arena, at)
        copy(net.arena, o[L.IN2_OFF] + row * second, second, net.arena, at + first)
        at += first + second
