"""Perturbed passes and the zeroth-order update (SPEC.md, 1.5 and 1.8)."""

import numpy as np

from microzo.net import words as L

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


def scale_signs(o, seed):
    return rng.signs(seed, 4 * o.tid + 3, 1, o.out_c)[0]


def renormalized(mult, shift):
    """Multipliers that left [2^30, 2^31) by at most a factor of two, and their shifts."""
    above, below = mult >= 1 << 31, (mult > 0) & (mult < 1 << 30)
    mult = np.where(above, mult >> 1, np.where(below, mult << 1, mult))
    return mult, sat(shift + above.astype(np.int64) - below, -31, 30)


def perturbation(sign, seed, wide, what, low, high, eps_shift):
    """`perturb` and `rescale` of a Reading: sign * eps * s on what trains in low..high-1."""

    def rescale(net, o):
        mult, shift = net.scale(o)
        if low <= o.index < high and what & L.MULTIPLIERS and o.ms_off >= 0:
            return renormalized(mult + sign * scale_signs(o, seed) * (mult >> 8), shift)
        return mult, shift

    def perturb(net, o):
        dw = db = 0
        if low <= o.index < high and what & L.WEIGHTS and o.master_off >= 0:
            eps = (o.eps_w << o.f) >> eps_shift if wide else o.eps_w
            dw = sign * eps * weight_signs(o, seed)
        if low <= o.index < high and what & L.BIASES and o.bias_off >= 0:
            db = sign * bias_steps(net, o) * bias_signs(o, seed)
        return dw, db

    return perturb, rescale


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
            Reading(wide, *perturbation(sign, seed, wide, what, low, high, eps_shift)),
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
        if what & L.MULTIPLIERS and o.ms_off >= 0:
            g = sum((coef * scale_signs(o, seed) for seed, coef in pairs), np.int64(0))
            mult, exponent = net.scale(o)
            moved = np.clip(mult - rsh(g * (mult >> 8), shift + 8), mult >> 1, 2 * mult)
            held_mult, held_shift = net.state_scale(o)
            held_mult[...], held_shift[...] = renormalized(moved, exponent)
