"""Node perturbation of one operator's output (SPEC.md, 1.10)."""

import numpy as np

from microzo.net import words as L

from . import rng
from .gradient import add_to
from .loss import cross_entropy
from .ops import Reading, forward, windows
from .requant import rsh, sat


def signs(net, o, seed, shared):
    """Sign of every node of the output of o as it is, 0 where it is not free; shared: a channel
    has that of its first position at all of them."""
    y = net.output(o)
    rows = 1 if shared else o.out_h * o.out_w
    u = rng.signs(seed, 4 * o.tid + 2, rows, o.out_c)
    u = np.broadcast_to(u, (o.out_h * o.out_w, o.out_c)).reshape(y.shape)
    return u * ((y > o.act_min) & (y < o.act_max))


def move(net, o, u, eps):
    """eps times the signs of ``signs`` is added to the free nodes of the output."""
    y = net.output(o)
    y[...] = np.where(u == 0, y, sat(y.astype(np.int64) + eps * u, o.act_min, o.act_max))


def credit(u, d, sums):
    """d times the signs of the free nodes is added to their sums."""
    free = u.reshape(-1) != 0
    held = sums[free]
    add_to(held, d * u.reshape(-1)[free])
    sums[free] = held


def probe(net, o, seed, shared, label, wide, eps, scale, shift, clip, y, sums):
    """[L+, L-]; adds d * u of every free node to sums int32[out_size]; y: the output, kept."""
    clean = net.output(o).copy()
    y[...] = clean.reshape(-1)
    u = signs(net, o, seed, shared)
    losses = []
    for sign in (1, -1):
        net.output(o)[...] = clean
        move(net, o, u, sign * eps)
        forward(net, o.index + 1, net.n_ops, Reading(bool(wide)))
        losses.append(cross_entropy(net.logits(), label)[0])
    net.output(o)[...] = clean
    d = int(sat(((losses[0] - losses[1]) * scale) >> shift, -clip, clip))
    credit(u, d, sums)
    return losses


def gradient(net, o, shift, sums, grad):
    """Adds the weight gradient of o for the output gradient in sums, which become 0."""
    limit = (1 << 30) // (255 * o.out_h * o.out_w)
    h = sat(rsh(sums.astype(np.int64), shift), -limit, limit).reshape(-1, o.out_c)
    x = net.input(o).astype(np.int64) - o.in_zp
    seen = windows(o, x, 0)
    if o.kind == L.DWCONV:
        source = np.arange(o.out_c) // (o.out_c // o.in_c)
        g = np.einsum("pc,pkc->ck", h, seen.reshape(len(h), o.k, o.in_c)[:, :, source])
    else:
        g = h.T @ seen.reshape(len(h), o.k)
    add_to(grad[: o.out_c * o.k].reshape(o.out_c, o.k), g)
    add_to(grad[o.out_c * o.k :], h.sum(axis=0) * 64)
    sums[...] = 0
