"""Perturbed passes and the zeroth-order update (SPEC.md, 1.5 and 1.8)."""

import numpy as np

from microzo import layout as L

from . import rng
from .loss import cross_entropy
from .ops import Reading, forward
from .requant import rsh, sat

MASTER_MAX = 127 * 256


def bias_steps(net, o):
    """eb[c], int64[out_c]: the perturbation of a bias in units of the bias."""
    mult, shift = net.scale(o)
    quotient = np.where(mult > 0, (1 << 30) // np.maximum(mult >> 15, 1), 1)
    lsb = np.where(mult > 0, sat(rsh(quotient, 14 + shift), 1, 1 << 20), 1)
    return np.maximum(1, (o.eps_b * lsb) >> 2)


def weight_signs(o, seed):
    return rng.signs(seed, 4 * o.tid, o.out_c, o.k)


def bias_signs(o, seed):
    return rng.signs(seed, 4 * o.tid + 1, 1, o.out_c)[0]


def perturbation(sign, seed, wide, what, low, high, eps_shift):
    """The `perturb` of a Reading: sign * eps * s on what trains in operators low..high-1."""

    def perturb(net, o):
        dw = db = 0
        if low <= o.index < high and what & L.WEIGHTS and o.master_off >= 0:
            eps = (o.eps_w << o.f) >> eps_shift if wide else o.eps_w
            dw = sign * eps * weight_signs(o, seed)
        if low <= o.index < high and what & L.BIASES and o.bias_off >= 0:
            db = sign * bias_steps(net, o) * bias_signs(o, seed)
        return dw, db

    return perturb


def probe(net, first, seed, label, mode, what, low, high, eps_shift):
    """[L+, L-] in Q12; L- is 0 when mode bit 1 asks for the + pass alone."""
    losses = [0, 0]
    for i, sign in enumerate((1, -1)):
        if sign < 0 and mode & 2:
            break
        wide = bool(mode & 1)
        forward(
            net,
            first,
            net.n_ops,
            Reading(wide, perturbation(sign, seed, wide, what, low, high, eps_shift)),
        )
        losses[i] = cross_entropy(net.logits(), label)[0]
    return losses


def update(net, low, high, what, shift, pairs):
    """Moves masters and biases of operators low..high-1 by the (seed, coef) pairs."""
    for i in range(low, high):
        o = net.op(i)
        if not o.weighted:
            continue
        if what & L.WEIGHTS and o.master_off >= 0:
            g = sum((coef * weight_signs(o, seed) for seed, coef in pairs), np.int64(0))
            masters = net.masters(o)
            masters[...] = sat(masters - rsh(g * o.eps_w, shift), -MASTER_MAX, MASTER_MAX)
        if what & L.BIASES and o.bias_off >= 0:
            g = sum((coef * bias_signs(o, seed) for seed, coef in pairs), np.int64(0))
            bias = net.state_bias(o)
            bias[...] = sat(bias - rsh(g * bias_steps(net, o), shift + 8), -o.b_max, o.b_max)
