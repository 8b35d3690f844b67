"""Gradients as int32 sums (SPEC.md, section 1.7): of any operator with weights, of the head in
closed form; and steps along them."""

from struct import pack_into, unpack_from

from ...net import words as L
from ...net.arena import in_size, row_len
from .buffers import check, check_out, get, integer, require
from .net import Net
from .requant import rsh, sat
from .state import move_bias, move_master
from .window import dilation, steps, window

_LARGEST = 1 << 30


def add(grad, i, v):
    pack_into("<i", grad, 4 * i, sat(get("<i", grad, 4 * i) + v, -_LARGEST, _LARGEST))


def check_grad(o, grad):
    check_out(grad, 4 * o[L.OUT_C] * (row_len(o, 0) + 1))


def add_gradient(net, o, grad, errors):
    """errors(c): a list of channel c's errors at every output position, asked for once."""
    x = net.tensor(o)
    zp, inputs, width = o[L.IN_ZP], o[L.IN_C], o[L.IN_W]
    length = row_len(o, 0)
    down, apart = dilation(o, 0), dilation(o, 1)
    for c in range(o[L.OUT_C]):
        unit, step, source = steps(o, c)
        g = [0] * length
        each = errors(c)
        for p in range(len(each)):
            h = each[p]
            if h:
                y0, y1, top = window(o, 0, p // o[L.OUT_W])
                x0, x1, left = window(o, 1, p % o[L.OUT_W])
                for ky in range(y0, y1):
                    at = ((top + ky * down) * width + left + x0 * apart) * inputs + source
                    for i in range((ky * o[L.K_W] + x0) * unit, (ky * o[L.K_W] + x1) * unit):
                        g[i] += h * (x[at] - zp)
                        at += step
                        if (i + 1) % unit == 0:
                            at += (apart - 1) * inputs
        for i in range(length):
            add(grad, c * length + i, g[i])
        add(grad, o[L.OUT_C] * length + c, sum(each) * 64)


def errors8(err, count):
    return [v + 64 >> 7 for v in unpack_from("<%di" % count, err, 0)]


def head_grad(plan, blob, state, arena, op, err, grad):
    net = Net(plan, blob, state, arena, (state, arena))
    o = net.op(op)
    require(o[L.KIND] == L.DENSE, "the head must be a DENSE operator")
    check(err, 0, 4 * o[L.OUT_C])
    check_grad(o, grad)
    check(arena, o[L.IN_OFF], in_size(o, 0))
    e8 = errors8(err, o[L.OUT_C])
    add_gradient(net, o, grad, lambda c: e8[c : c + 1])
    return 0


def apply_grad(plan, state, op, shift, decay, grad):
    net = Net(plan, b"", state, b"", (state,))
    o = net.weighted(op)
    integer(shift, 0, 31, "shift")
    integer(decay, 0, 31, "decay")
    require(o[L.MASTER_OFF] >= 0 or o[L.BIAS_OFF] >= 0, "the operator has nothing to train")
    net.check_parts(o)
    check_grad(o, grad)
    count = o[L.OUT_C] * row_len(o, 0)
    for i in range(count + o[L.OUT_C]):
        v = get("<i", grad, 4 * i)
        if i >= count:
            if o[L.BIAS_OFF] >= 0:
                move_bias(net, o, i - count, rsh(v, shift + 4))
        elif o[L.MASTER_OFF] >= 0:
            move_master(net, o, i, rsh(v, shift))
        pack_into("<i", grad, 4 * i, v - (v >> decay) if decay else 0)
    return 0
