"""The operators (SPEC.md, 1.1 - 1.6) on one sample, int8 [h, w, c], or on a batch of them,
[n, h, w, c].

Arithmetic is in int64; matrix products run in float64, or in float32 where every sum is below
2^24: they are exact.
"""

import numpy as np

from microzo.net import words as L

from .record import TWO_INPUTS, require
from .requant import once, requant, sat

H, W, C = -3, -2, -1  # axes


def padded(o, x, fill):
    """x with the operator's padding around it."""
    around = [(0, 0)] * (x.ndim - 3) + [(o.p_t, o.p_b), (o.p_l, o.p_r), (0, 0)]
    return np.pad(x, around, constant_values=fill)


def windows(o, x, fill):
    """[..., out_h, out_w, k_h, k_w, in_c]: what each output sees, `fill` in the padding."""
    kernel = (o.k_h, o.k_w)
    view = np.lib.stride_tricks.sliding_window_view(padded(o, x, fill), kernel, axis=(H, W))
    return np.moveaxis(view[..., :: o.s_h, :: o.s_w, :, :, :], H, C)


def accumulate(o, x, weights, bias):
    """int64[..., positions, out_c]: bias + sum w * (x - in_zp). x int8, w int64[out_c, k]."""
    largest = 255 * int(abs(weights).sum(1).max())
    exact = np.float32 if largest < 1 << 24 else np.float64
    x, w = x.astype(exact) - exact(o.in_zp), weights.astype(exact)
    sums = _by_taps(o, x, w) if o.kind == L.DWCONV else _by_rows(o, x, w)
    return sums.reshape(*x.shape[:H], o.out_h * o.out_w, o.out_c).astype(np.int64) + bias


def _by_rows(o, x, w):
    """Products of every window, laid out as a row, with the rows of the weights."""
    return windows(o, x, 0).reshape(-1, w.shape[1]) @ w.T


def _by_taps(o, x, w):
    """One position of the depthwise kernel after the other, all channels at once."""
    x = np.repeat(padded(o, x, 0), o.out_c // o.in_c, axis=C)
    sums = np.zeros((*x.shape[:H], o.out_h, o.out_w, o.out_c), x.dtype)
    for i, j in np.ndindex(o.k_h, o.k_w):
        rows = slice(i, i + (o.out_h - 1) * o.s_h + 1, o.s_h)
        columns = slice(j, j + (o.out_w - 1) * o.s_w + 1, o.s_w)
        sums += x[..., rows, columns, :] * w[:, i * o.k_w + j]
    return sums


def pool(o, x):
    if o.kind == L.MAXPOOL:
        y = windows(o, x, -128).max(axis=(H, W))
    elif o.kind == L.MEAN:
        total = windows(o, x.astype(np.int64), 0) - o.in_zp
        y = requant(total.sum(axis=(H, W)), o.mult, o.shift) + o.out_zp
    else:
        total = windows(o, x.astype(np.int64), 0).sum(axis=(H, W))
        count = windows(o, np.ones((o.in_h, o.in_w, 1), np.int64), 0).sum(axis=(H, W))
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
    axis = H if o.out_h > o.in_h else W if o.out_w > o.in_w else C
    return np.concatenate([x1, x2], axis)


def pad(o, x):
    return padded(o, x, o.in_zp)


def scaled(o, acc, mult, shift):
    """int8[..., positions, out_c] of a weighted operator from its accumulators."""
    round_ = once if o.flags & L.ROUND_ONCE else requant
    return sat(round_(acc, mult, shift) + o.out_zp, o.act_min, o.act_max).astype(np.int8)


def logits_of(acc, mult, shift):
    """Logits in Q12 nats."""
    return sat(requant(acc, mult, shift), -(1 << 20), 1 << 20)


def unweighted(o, x, other, table):
    """Output of an operator without weights; other(), table(): its second input, its table."""
    if o.kind in TWO_INPUTS:
        return {L.ADD: add, L.MUL: mul, L.CONCAT: concat}[o.kind](o, x, other())
    if o.kind == L.PAD:
        return pad(o, x)
    if o.kind == L.LUT:
        return table()[x.astype(np.int64) + 128]
    return pool(o, x)


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
    y = net.output(o)
    if not o.weighted:
        y[...] = unweighted(o, net.input(o), lambda: net.input2(o), lambda: net.table(o))
        return
    acc, f = accumulators(net, o, reading)
    mult, shift = reading.scale(net, o)
    y[...] = scaled(o, acc, mult, shift - f).reshape(y.shape)
    if o.flags & L.EMIT_LOGITS:
        lmult, lshift = (v.astype(np.int64) for v in net.logit_scale(o))
        net.logits()[...] = logits_of(acc, lmult, lshift - f)[0]


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
        logits[...] = logits_of(q, int(net.words[L.LOGIT_MULT]), int(net.words[L.LOGIT_SHIFT]))
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
