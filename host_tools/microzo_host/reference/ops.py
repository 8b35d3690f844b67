"""The operators on one sample (SPEC.md, 1.1 - 1.6). Activations int8 [h, w, c], arithmetic in
int64.

Matrix products run in float64: every sum is below 2^53, so they are exact.
"""

import numpy as np

from microzo.net import words as L

from .record import TWO_INPUTS, require
from .requant import once, requant, sat


def windows(o, x, fill):
    """int64[out_h, out_w, k_h, k_w, in_c]: what each output sees, `fill` in the padding."""
    padded = np.pad(x, ((o.p_t, o.p_b), (o.p_l, o.p_r), (0, 0)), constant_values=fill)
    size = (o.k_h - 1) * o.dil_h + 1, (o.k_w - 1) * o.dil_w + 1
    view = np.lib.stride_tricks.sliding_window_view(padded, size, axis=(0, 1))
    view = view[:: o.s_h, :: o.s_w, :, :: o.dil_h, :: o.dil_w]
    return view.transpose(0, 1, 3, 4, 2)


def accumulate(o, x, weights, bias):
    """int64[positions, out_c]: bias + sum w * (x - in_zp). x int8[h, w, c], w int64[out_c, k]."""
    seen = windows(o, x.astype(np.int64) - o.in_zp, 0)
    positions = o.out_h * o.out_w
    if o.kind == L.DWCONV:
        source = np.arange(o.out_c) // (o.out_c // o.in_c)
        seen = seen.reshape(positions, o.k, o.in_c)[:, :, source]
        return np.einsum("pkc,ck->pc", seen, weights) + bias
    seen = seen.reshape(positions, o.k).astype(np.float64)
    return (seen @ weights.T.astype(np.float64)).astype(np.int64) + bias


def pool(o, x):
    seen = windows(o, x.astype(np.int64), 0)
    if o.kind == L.MAXPOOL:
        inside = windows(o, np.ones_like(x, np.int64), 0)
        y = np.where(inside, seen, -128).max(axis=(2, 3))
    elif o.kind == L.MEAN:
        y = requant((seen - o.in_zp).sum(axis=(2, 3)), o.mult, o.shift) + o.out_zp
    else:
        total = seen.sum(axis=(2, 3))
        count = windows(o, np.ones((o.in_h, o.in_w, 1), np.int64), 0).sum(axis=(2, 3))
        y = np.sign(total) * ((2 * abs(total) + count) // (2 * count))
    return sat(y, o.act_min, o.act_max)


def add(o, x1, x2):
    a = requant((x1.astype(np.int64) - o.in_zp) << 20, o.mult1, o.shift1)
    b = requant((x2.astype(np.int64) - o.in2_zp) << 20, o.mult2, o.shift2)
    return sat(requant(a + b, o.mult, o.shift) + o.out_zp, o.act_min, o.act_max)


def mul(o, x1, x2):
    product = (x1.astype(np.int64) - o.in_zp) * (x2.astype(np.int64) - o.in2_zp)
    return sat(requant(product, o.mult, o.shift) + o.out_zp, o.act_min, o.act_max)


def concat(o, x1, x2):
    axis = 0 if o.out_h > o.in_h else 1 if o.out_w > o.in_w else 2
    return np.concatenate([x1, x2], axis)


def pad(o, x):
    """Pads; a negative one cuts off."""
    y = np.full((o.out_h, o.out_w, o.out_c), o.in_zp, np.int8)
    for p in np.ndindex(o.out_h, o.out_w):
        at = p[0] - o.p_t, p[1] - o.p_l
        if 0 <= at[0] < o.in_h and 0 <= at[1] < o.in_w:
            y[p] = x[at]
    return y


class Reading:
    """The parameters one pass reads: precision and perturbation (SPEC.md, 1.4 and 1.5).

    perturb(net, o) -> (change of the weights, change of the biases), int64 arrays or 0, in the
    units of the pass (weights in LSB or in 2^-f LSB, biases before their shift); rescale(net, o)
    -> the multipliers and shifts of the pass.
    """

    def __init__(self, wide=False, perturb=None, rescale=None):
        self.wide, self.perturb, self.rescale = wide, perturb, rescale

    def scale(self, net, o):
        """(mult, shift) of the pass, before its shift by f."""
        return self.rescale(net, o) if self.rescale else net.scale(o)

    def fraction(self, o):
        """f of the pass: F for a layer with masters in 16w8a, else 0."""
        return o.f if self.wide and o.master_off >= 0 else 0

    def parameters(self, net, o):
        """weights int64[out_c, k], bias int64[out_c], f."""
        f = self.fraction(o)
        masters = net.masters(o)
        if masters is None:
            w = net.weights(o).astype(np.int64)
        elif self.wide:
            w = masters.astype(np.int64) >> (8 - f)
        else:
            w = (masters.astype(np.int64) + 128) >> 8
        dw, db = self.perturb(net, o) if self.perturb else (0, 0)
        return w + dw, (net.bias(o) + db) << f, f


def accumulators(net, o, reading):
    w, b, f = reading.parameters(net, o)
    return accumulate(o, net.input(o), w, b), f


def run(net, o, reading):
    """Runs one operator; writes its output, and the logits if it has the flag."""
    x, y = net.input(o), net.output(o)
    if o.weighted:
        acc, f = accumulators(net, o, reading)
        mult, shift = reading.scale(net, o)
        scaled = once if o.flags & L.ROUND_ONCE else requant
        out = scaled(acc, mult, shift - f) + o.out_zp
        y[...] = sat(out, o.act_min, o.act_max).reshape(y.shape)
        if o.flags & L.EMIT_LOGITS:
            lmult, lshift = (v.astype(np.int64) for v in net.logit_scale(o))
            net.logits()[...] = sat(requant(acc, lmult, lshift - f), -(1 << 20), 1 << 20)[0]
    elif o.kind in TWO_INPUTS:
        y[...] = {L.ADD: add, L.MUL: mul, L.CONCAT: concat}[o.kind](o, x, net.input2(o))
    elif o.kind == L.PAD:
        y[...] = pad(o, x)
    elif o.kind == L.LUT:
        y[...] = net.table(o)[x.astype(np.int64) + 128]
    else:
        y[...] = pool(o, x)


def check(net, o):
    """Everything `run` will touch, before anything is written."""
    check_apart(net.output(o), net.input(o))
    if o.kind in TWO_INPUTS:
        check_apart(net.output(o), net.input2(o))
    if o.kind == L.LUT:
        net.table(o)
    if o.kind == L.ADD:
        check_scale(abs(o.mult1), o.shift1, 0)
        check_scale(abs(o.mult2), o.shift2, 0)
    if o.kind in (L.ADD, L.MUL, L.MEAN):
        check_scale(o.mult, o.shift, 30, 1 << (29 if o.kind == L.MEAN else 30))
    if o.weighted:
        Reading().parameters(net, o)
        net.scale(o)
        net.check_scratch(o)
        if o.flags & L.EMIT_LOGITS:
            require(
                o.out_c == net.classes and o.index == net.n_ops - 1,
                "only the last operator makes the logits",
            )
            net.logit_scale(o)
            check_apart(net.logits(), net.input(o))
            check_apart(net.logits(), net.output(o))


def check_apart(written, other):
    require(not np.shares_memory(written, other), "an operator's output overlaps another tensor")


def check_scale(mult, shift, most, least=1 << 30):
    require(
        (mult == 0 or least <= mult < 1 << 31) and -31 <= shift <= most,
        "a multiplier or shift is out of range",
    )


def forward(net, first, last, reading):
    """Operators first..last-1, and the class if last = N_OPS, else 0."""
    for i in range(first, last):
        run(net, net.op(i), reading)
    if last < net.n_ops:
        return 0
    o = net.op(net.n_ops - 1)
    logits = net.logits()
    if not o.flags & L.EMIT_LOGITS:
        q = net.output(o).reshape(-1).astype(np.int64) - o.out_zp
        scaled = requant(q, int(net.words[L.LOGIT_MULT]), int(net.words[L.LOGIT_SHIFT]))
        logits[...] = sat(scaled, -(1 << 20), 1 << 20)
    return int(np.argmax(logits))


def check_range(net, first, last):
    require(
        0 <= first < last <= net.n_ops, "first and last must satisfy 0 <= first < last <= N_OPS"
    )
    for i in range(first, last):
        check(net, net.op(i))
    if last == net.n_ops:
        o = net.op(net.n_ops - 1)
        net.logits()
        require(o.out_size == net.classes, "the last operator does not write one value a class")
        if not o.flags & L.EMIT_LOGITS:
            check_scale(int(net.words[L.LOGIT_MULT]), int(net.words[L.LOGIT_SHIFT]), 30)
