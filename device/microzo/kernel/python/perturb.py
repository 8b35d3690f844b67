"""The parameters that a pass reads (SPEC.md, section 1.5).

A pass is (wide, sign, seed, what, lo, hi, eps_shift): whether it is 16w8a, and the perturbation of
operators lo..hi-1; sign 0: none.
"""

from struct import unpack_from

from ...net import words as L
from ...net.arena import row_len
from .requant import renormalized
from .rng import keys, sign_row


def plain(wide=0):
    """A pass without a perturbation."""
    return wide, 0, 0, 0, 0, 0, 0


def trained(o, what):
    """Those of the parts `what` that the state holds."""
    for bit, word in (
        (L.WEIGHTS, L.MASTER_OFF), (L.BIASES, L.BIAS_OFF), (L.MULTIPLIERS, L.MS_OFF),
    ):  # fmt: skip
        if o[word] < 0:
            what &= ~bit
    return what


def _perturbed(o, index, how):
    _, sign, _, what, lo, hi, _ = how
    return trained(o, what) if sign and lo <= index < hi else 0


def fraction(o, how):
    return o[L.F] if how[0] and o[L.MASTER_OFF] >= 0 else 0


def channel_signs(o, seed, stream):
    """The signs of one row of output channels."""
    return sign_row(keys(seed, 4 * o[L.TID] + stream), 0, o[L.OUT_C])


def scales(net, o, index, how):
    """Yields (mult, shift) of every output channel, perturbed by 1/256 of mult."""
    signs = None
    if _perturbed(o, index, how) & L.MULTIPLIERS:
        signs = channel_signs(o, how[2], 3)
    for c in range(o[L.OUT_C]):
        mult, shift = net.scale(o, c)
        if signs:
            mult, shift = renormalized(mult + how[1] * signs[c] * (mult >> 8), shift)
        yield mult, shift


def rows(net, o, index, how):
    """Yields (channel, weights, bias) of every output channel."""
    wide, sign, seed, _, _, _, eps_shift = how
    k = row_len(o, 0)
    f = fraction(o, how)
    eps = step = 0
    stream = bias_signs = None
    parts = _perturbed(o, index, how)
    if parts & L.WEIGHTS:
        eps = sign * ((o[L.EPS_W] << f) >> eps_shift if wide else o[L.EPS_W])
        stream = keys(seed, 4 * o[L.TID])
    if parts & L.BIASES:
        bias_signs = channel_signs(o, seed, 1)
    for c in range(o[L.OUT_C]):
        if o[L.MASTER_OFF] < 0:
            w = unpack_from("<%db" % k, net.blob, o[L.W_OFF] + c * k)
        else:
            w = unpack_from("<%dh" % k, net.state, o[L.MASTER_OFF] + 2 * c * k)
            w = [v >> 8 - f for v in w] if wide else [v + 128 >> 8 for v in w]
        if eps:
            signs = sign_row(stream, c, k)
            for r in range(k):
                w[r] += eps * signs[r]
        if bias_signs:
            step = sign * net.bias_step(o, c) * bias_signs[c]
        yield c, w, net.bias(o, c) + step << f
