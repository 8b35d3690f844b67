"""The gradient of the convolution before the head, in closed form (SPEC.md, section 1.7)."""

from ...net import words as L
from ...net.arena import in_size, out_size
from .buffers import check, get, require
from .gradient import add_gradient, check_grad, errors8
from .net import Net
from .perturb import plain, rows
from .requant import rsh, sat


def tail_grad(plan, blob, state, arena, op, head, err, grad):
    net = Net(plan, blob, state, arena, (state, arena))
    o = net.op(op)
    head_op = net.op(head)
    kinds = o[L.KIND] == L.CONV and head_op[L.KIND] == L.DENSE
    require(kinds, "the tail must be a CONV, an AVGPOOL, a MEAN or nothing, and a DENSE")
    pool, gate = _between(net, op, o, head, head_op)
    check(err, 0, 4 * head_op[L.OUT_C])
    check_grad(o, grad)
    net.check_tensors(o)
    check(arena, gate[L.OUT_OFF], out_size(gate, 0))
    net.check_parts(head_op, L.WEIGHTS | L.BIASES)
    df = _head_input_error(net, head_op, head, err, (1 << 30) // (255 * o[L.OUT_H] * o[L.OUT_W]))
    channels = o[L.OUT_C]

    def errors(c):
        each = []
        for p in range(o[L.OUT_H] * o[L.OUT_W]):
            at = p * channels + c
            inside = True
            if pool:
                y, x = p // o[L.OUT_W] // pool[L.K_H], p % o[L.OUT_W] // pool[L.K_W]
                p = y * pool[L.OUT_W] + x
                inside = y < pool[L.OUT_H] and x < pool[L.OUT_W]
            moves = inside and _unclamped(net, o, at) and _unclamped(net, gate, at)
            each.append(df[p * channels + c] if moves else 0)
        return each

    add_gradient(net, o, grad, errors)
    return 0


def _between(net, op, o, head, head_op):
    """(average or None, the ADD behind convolution o or o itself)."""
    pool = None
    gate = o
    at = head - 1
    if at > op and _is_average(net.op(at)):
        pool = net.op(at)
        at -= 1
    good = at >= op
    if at > op:
        gate = net.op(at)
        spread = gate[L.FLAGS] & (L.SPREAD_HW | L.SPREAD_C)
        good = gate[L.KIND] == L.ADD and not spread and o[L.OUT] in (gate[L.IN], gate[L.IN2])
    last = pool or gate
    good = good and last[L.OUT] == head_op[L.IN] and out_size(last, 0) == in_size(head_op, 0)
    require(good and (not pool or gate[L.OUT] == pool[L.IN]), "the tail is not connected")
    shape = o[L.OUT_H : L.OUT_C + 1]
    good = gate[L.OUT_H : L.OUT_C + 1] == shape
    require(good and (not pool or pool[L.IN_H : L.IN_C + 1] == shape), "the tail's shapes differ")
    return pool, gate


def _is_average(pool):
    good = pool[L.KIND] in (L.AVGPOOL, L.MEAN) and not any(pool[L.P_T : L.P_R + 1])
    good = good and (pool[L.K_H] == pool[L.S_H] or pool[L.OUT_H] == 1)
    return good and (pool[L.K_W] == pool[L.S_W] or pool[L.OUT_W] == 1)


def _unclamped(net, o, at):
    return o[L.ACT_MIN] < get("b", net.arena, o[L.OUT_OFF] + at) < o[L.ACT_MAX]


def _head_input_error(net, head, index, err, most):
    """The error at the head's input, clamped to +-most."""
    e8 = errors8(err, head[L.OUT_C])
    df = [0] * head[L.IN_C]
    for c, w, _ in rows(net, head, index, plain()):
        for i in range(len(df)):
            df[i] += w[i] * e8[c]
    return [sat(rsh(v, 4), -most, most) for v in df]
