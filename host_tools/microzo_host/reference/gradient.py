"""Closed-form gradients of the head and of the last convolution (SPEC.md, 1.7)."""

import numpy as np

from .ops import Reading, windows
from .requant import rsh, sat
from .zo import MASTER_MAX

GRAD_MAX = 1 << 30


def error8(err):
    """Error vector Q15 -> Q8, int64."""
    return (err.astype(np.int64) + 64) >> 7


def add_to(grad, part):
    grad[...] = sat(grad + part, -GRAD_MAX, GRAD_MAX)


def head(net, o, err, grad):
    """Adds the gradient of dense operator o to grad int32[C*K + C]."""
    e8 = error8(err)
    x = net.input(o).reshape(-1).astype(np.int64) - o.in_zp
    add_to(grad[: o.out_c * o.k].reshape(o.out_c, o.k), np.outer(e8, x))
    add_to(grad[o.out_c * o.k :], e8 * 64)


def tail(net, o, gate, pool, head_op, err, grad):
    """Adds the gradient of convolution o to grad int32[C*K + C].

    gate: the ADD behind it, or o itself; pool may be None.
    """
    w, _, _ = Reading().parameters(net, head_op)
    d = (1 << 30) // (255 * o.out_h * o.out_w)
    df = sat(rsh(error8(err) @ w, 4), -d, d)
    h = np.zeros(net.output(o).shape, np.int64)
    if pool is None:
        h[...] = df.reshape(h.shape)
    else:
        cells = df.reshape(pool.out_h, pool.out_w, pool.out_c)
        cells = cells.repeat(pool.k_h, axis=0).repeat(pool.k_w, axis=1)
        h[: cells.shape[0], : cells.shape[1]] = cells
    for op in (o, gate):
        y = net.output(op)
        h[(y <= op.act_min) | (y >= op.act_max)] = 0
    h = h.reshape(-1, o.out_c)
    seen = windows(o, net.input(o).astype(np.int64) - o.in_zp, 0).reshape(-1, o.k)
    add_to(grad[: o.out_c * o.k].reshape(o.out_c, o.k), h.T @ seen)
    add_to(grad[o.out_c * o.k :], h.sum(axis=0) * 64)


def apply(net, o, shift, decay, grad):
    """Moves masters and biases of o against grad (V), then decays V."""
    v = grad.astype(np.int64)
    masters, bias = net.masters(o), net.state_bias(o)
    if masters is not None:
        step = rsh(v[: o.out_c * o.k], shift).reshape(masters.shape)
        masters[...] = sat(masters - step, -MASTER_MAX, MASTER_MAX)
    if bias is not None:
        bias[...] = sat(bias - rsh(v[o.out_c * o.k :], shift + 4), -o.b_max, o.b_max)
    grad[...] = v - (v >> decay) if decay > 0 else 0
