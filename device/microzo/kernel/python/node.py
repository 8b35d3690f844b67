"""Node perturbation (SPEC.md, section 1.10)."""

from struct import pack_into, unpack_from

from ...net import words as L
from ...net.arena import out_size
from .buffers import check, check_out, copy, get, int8s, integer
from .gradient import add, add_gradient, check_grad
from .loss import cross_entropy
from .net import Net
from .perturb import plain
from .requant import rsh, sat
from .rng import check_seed, keys, sign_row


def node(plan, blob, state, arena, params, y, sums, out):
    net = Net(plan, blob, state, arena, (state, arena))
    check_out(out, 8)
    check(params, 0, 32)
    op, seed, label, mode, eps, scale, shift, clip = unpack_from("<8i", params, 0)
    check_seed(seed)
    integer(label, 0, net.classes - 1, "the label")
    integer(mode, 0, 7, "mode")
    shared, mode = mode & 4, mode & 3
    move, credit = mode == 2, mode == 3
    integer(eps, -127 if move else 1, 127, "eps")
    integer(clip, -32767 if credit else 0, 32767, "clip")
    integer(scale, 0, 256, "scale")
    integer(shift, 0, 31, "shift")
    integer(op, 0, net.n_ops - 2, "the operator")
    net.check_range(op, net.n_ops)
    o = net.op(op)
    n = out_size(o, 0)
    check_out(y, 0 if move or credit else n)
    check_out(sums, 4 * n)
    nodes = _Nodes(net, o, seed, shared)
    if move:
        nodes.perturb(eps)
        return 0
    if credit:
        nodes.credit(sums, clip)
        return 0
    copy(arena, o[L.OUT_OFF], n, y, 0)
    losses = [0, 0]
    for i in range(2):
        nodes.perturb(eps - 2 * eps * i)
        net.run(op + 1, net.n_ops, plain(mode))
        losses[i] = cross_entropy(net.logits(), label)
    copy(y, 0, n, arena, o[L.OUT_OFF])
    nodes.credit(sums, sat((losses[0] - losses[1]) * scale >> shift, -clip, clip))
    pack_into("<2i", out, 0, *losses)
    return 0


class _Nodes:
    """An operator's outputs as they are now, with a sign each."""

    def __init__(self, net, o, seed, shared):
        self._net = net
        self._o = o
        self._clean = int8s(net.arena, o[L.OUT_OFF], out_size(o, 0))
        self._keys = keys(seed, 4 * o[L.TID] + 2)
        self._shared = shared

    def _signed(self):
        """Yields (output, value, sign) of what is not clamped."""
        o = self._o
        channels = o[L.OUT_C]
        for i in range(len(self._clean)):
            if i % channels == 0:
                signs = sign_row(self._keys, 0 if self._shared else i // channels, channels)
            if o[L.ACT_MIN] < self._clean[i] < o[L.ACT_MAX]:
                yield i, self._clean[i], signs[i % channels]

    def credit(self, sums, d):
        for i, _, sign in self._signed():
            add(sums, i, d * sign)

    def perturb(self, eps):
        o = self._o
        pack_into("%ds" % len(self._clean), self._net.arena, o[L.OUT_OFF], bytes(self._clean))
        for i, v, sign in self._signed():
            v = sat(v + eps * sign, o[L.ACT_MIN], o[L.ACT_MAX])
            pack_into("b", self._net.arena, o[L.OUT_OFF] + i, v)


def node_grad(plan, arena, op, shift, sums, grad):
    net = Net(plan, b"", b"", arena, (arena,))
    o = net.weighted(op)
    integer(shift, 0, 31, "shift")
    check_out(sums, 4 * out_size(o, 0))
    check_grad(o, grad)
    net.check_tensors(o)
    net.check_scratch(o)
    most = (1 << 30) // (255 * o[L.OUT_H] * o[L.OUT_W])

    def errors(c):
        each = []
        for at in range(4 * c, 4 * out_size(o, 0), 4 * o[L.OUT_C]):
            each.append(sat(rsh(get("<i", sums, at), shift), -most, most))
            pack_into("<i", sums, at, 0)
        return each

    add_gradient(net, o, grad, errors)
    return 0
