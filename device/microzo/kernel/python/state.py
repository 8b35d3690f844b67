"""Trained values (SPEC.md, section 1.4): from the file, moved, assigned, rounded to weights."""

from struct import pack_into, unpack_from

from ...net import words as L
from ...net.arena import row_len
from .buffers import check, check_out, copy, get, integer, require
from .net import Net
from .requant import check_scale, sat

_MASTER_MAX = 127 * 256
_ALL = L.WEIGHTS | L.BIASES | L.MULTIPLIERS


def move_master(net, o, i, step):
    at = o[L.MASTER_OFF] + 2 * i
    v = get("<h", net.state, at) - step
    pack_into("<h", net.state, at, sat(v, -_MASTER_MAX, _MASTER_MAX))


def move_bias(net, o, c, step):
    at = o[L.BIAS_OFF] + 4 * c
    pack_into("<i", net.state, at, sat(get("<i", net.state, at) - step, -o[L.B_MAX], o[L.B_MAX]))


def init_state(plan, blob, state):
    net = Net(plan, blob, state, b"", (state,))
    for o in net.weighted_ops(0, net.n_ops):
        net.check_parts(o, 0, _ALL)
    for o in net.weighted_ops(0, net.n_ops):
        c = o[L.OUT_C]
        if o[L.MASTER_OFF] >= 0:
            for i in range(c * row_len(o, 0)):
                w = get("b", blob, o[L.W_OFF] + i)
                pack_into("<h", state, o[L.MASTER_OFF] + 2 * i, w << 8)
        if o[L.BIAS_OFF] >= 0:
            copy(blob, o[L.B_OFF], 4 * c, state, o[L.BIAS_OFF])
        if o[L.MS_OFF] >= 0:
            copy(blob, o[L.M_OFF], 4 * c, state, o[L.MS_OFF])
            copy(blob, o[L.S_OFF], c, state, o[L.MS_OFF] + 4 * c)
    return 0


def assign(plan, state, op, vals):
    net = Net(plan, b"", state, b"", (state,))
    o = net.weighted(op)
    channels = o[L.OUT_C]
    moves = o[L.BIAS_OFF] >= 0 and o[L.MS_OFF] >= 0
    require(moves, "assign needs the operator's biases and multipliers in the state")
    check(vals, 0, 12 * channels)
    net.check_parts(o)
    vals = unpack_from("<%di" % (3 * channels), vals, 0)
    for c in range(channels):
        integer(vals[c], -o[L.B_MAX], o[L.B_MAX], "a bias")
        check_scale(vals[channels + c], vals[2 * channels + c])
    for c in range(channels):
        pack_into("<i", state, o[L.BIAS_OFF] + 4 * c, vals[c])
        pack_into("<i", state, o[L.MS_OFF] + 4 * c, vals[channels + c])
        pack_into("b", state, o[L.MS_OFF] + 4 * channels + c, vals[2 * channels + c])
    return 0


def export_weights(plan, state, op, out):
    net = Net(plan, b"", state)
    o = net.weighted(op)
    require(o[L.MASTER_OFF] >= 0, "the operator has no masters")
    count = o[L.OUT_C] * row_len(o, 0)
    net.check_parts(o)
    check_out(out, count)
    for i in range(count):
        w = get("<h", state, o[L.MASTER_OFF] + 2 * i) + 128 >> 8
        pack_into("b", out, i, min(w, 127))  # more only where memory was written in between
    return 0
