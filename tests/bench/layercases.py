"""Cases of single layers, with the shapes that the fast paths distinguish."""

import itertools
import random
import struct

import casegen
import netgen

from microzo.net import arena as planner
from microzo.net import words as L


class LayerNetwork(netgen.Network):
    """Multipliers mostly as networks have them, so that fast paths are taken; clamps too."""

    def __init__(self, rng, shape, plain):
        self.plain = plain
        super().__init__(rng, shape)

    def mult_shift(self, typical):
        if self.plain:
            return self.rng.randrange(1 << 30, 1 << 31), max(
                -22, min(-1, typical + self.rng.randint(-2, 1))
            )
        return super().mult_shift(typical)

    def clamp(self):
        return (-128, 127) if self.plain and self.rng.random() < 0.7 else super().clamp()


CHANNELS = (1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 17, 20, 24, 32, 33, 36, 40, 64, 100, 128)


def layer_net(rng):
    kind = rng.choice(("conv", "conv", "point", "dw", "dw", "dense", "dense", "pool"))
    plain = rng.random() < 0.75
    channels = rng.choice(CHANNELS)
    side = (rng.randint(1, 9), rng.randint(1, 9))
    pads = tuple(rng.choice((0, 1, 1, rng.randint(0, 3))) for _ in range(4))
    stride = (rng.choice((1, 1, 2, 3)), rng.choice((1, 1, 2, 3)))
    k = rng.choice(((3, 3), (3, 3), (rng.randint(1, 5), rng.randint(1, 5))))
    k = tuple(min(k[i], side[i] + pads[2 * i] + pads[2 * i + 1]) for i in range(2))
    if kind == "dense":
        net = LayerNetwork(
            rng, (1, 1, rng.choice((*CHANNELS, 31, 34, 35, 65, 97, 256, 260, 1000, 1024))), plain
        )
        net.dense(0, rng.choice((1, 2, 3, 4, 5, 7, 8, 10, 16, 33)), rng.random() < 0.4)
        net.first = 0
        return net.finish(trainable=rng.choice((0, 0.5, 1, 2)))
    elif kind == "point":
        net = LayerNetwork(rng, (*side, channels), plain)
        net.conv(0, rng.choice(CHANNELS), (1, 1))
    elif kind == "pool":
        net = LayerNetwork(rng, (rng.randint(1, 20), rng.randint(1, 20), channels), plain)
        h, w, _ = net.shapes[0]
        k = (rng.randint(1, h), rng.randint(1, w))
        net.pool(0, rng.choice((L.AVGPOOL, L.AVGPOOL, L.MAXPOOL)), k, stride, netgen.pads(rng, k))
    elif kind == "conv":
        net = LayerNetwork(rng, (*side, rng.choice((1, 2, 3, 4, 5, 8, 11, 12, 16, 20))), plain)
        net.conv(0, rng.choice(CHANNELS[:14]), k, stride, pads)
    else:
        net = LayerNetwork(rng, (*side, channels), plain)
        net.dwconv(0, rng.choice((1, 1, 1, 2, 3)), k, stride, pads)
    h, w, c = net.shapes[-1]
    if h * w * c > 1024 or rng.random() < 0.5:
        t = len(net.shapes) - 1
        t = net.pool(t, L.AVGPOOL, (h, w), (1, 1))
        if rng.random() < 0.5:
            net.dense(t, rng.choice((2, 5, 10)), True)
    net.first = 0
    return net.finish(trainable=rng.choice((0, 0.5, 1, 2)))


FUNCTIONS = ("forward", "forward", "forward", "probe", "probe", "update", "stats", "node")


def cases(seed, count):
    for i in range(count):
        rng = random.Random(f"layer-{seed}-{i}")
        yield from casegen.net_cases(rng, layer_net(rng), FUNCTIONS)


class OneZeroPoint(LayerNetwork):
    """Every tensor has the same zero point."""

    def __init__(self, rng, shape, zp):
        self.zp = zp
        super().__init__(rng, shape, plain=True)

    def zero_point(self):
        return self.zp


def zero_point_cases():
    """Every zero point, through each kind of layer."""
    for zp in range(-128, 128):
        rng = random.Random(f"zero-{zp}")
        net = OneZeroPoint(rng, (5, 4, rng.choice((3, 4))), zp)
        t = net.conv(0, 8, (3, 3), (1, 1), (1, 0, 2, 1))
        t = net.dwconv(t, 1, (3, 3), (1, 1), (0, 2, 1, 1))
        t = net.conv(t, rng.choice((4, 5)), (1, 1))
        h, w, _ = net.shapes[t]
        t = net.pool(t, L.AVGPOOL, (h, w - 1), (1, 1))
        net.dense(t, 6)
        net.first = 0
        yield from casegen.net_cases(
            rng, net.finish(trainable=rng.choice((0, 2))), ("forward", "probe")
        )


def _edge(rng, kind, channels):
    image = (1, 1, channels)
    plain = rng.random() < 0.7
    if kind == "dense":
        net = LayerNetwork(rng, (1, 1, rng.choice((31, 32, 33, 36, 40, 64, 68))), plain)
        net.dense(0, channels, rng.random() < 0.3)
        return net
    net = LayerNetwork(rng, image, plain)
    pads = rng.choice(((0, 2, 1, 1), (2, 0, 2, 2), (1, 1, 0, 2), (3, 0, 0, 3)))
    if kind == "conv":
        net.conv(0, rng.choice((1, 4, 6, 7)), (3, 3), (1, 1), pads)
    elif kind == "point":
        net.conv(0, channels, (1, 1))
    elif kind == "dw":
        net.dwconv(0, 1, (3, 3), (1, 1), pads)
    else:
        net.dwconv(0, 2, (2, 3), (2, 1), pads)
    h, w, _ = net.shapes[1]
    net.pool(1, L.AVGPOOL, (h, w), (1, 1))
    return net


def edge_cases():
    """Images of one cell, uneven pads, every remainder of channels and rows."""
    for channels in (*range(1, 22), 31, 32, 33, 36, 47):
        for kind in ("conv", "point", "dw", "dw2", "dense"):
            rng = random.Random(f"edge-{kind}-{channels}")
            net = _edge(rng, kind, channels)
            net.first = 0
            net.finish(trainable=rng.choice((0, 2, 2)))
            yield from casegen.net_cases(rng, net, ("forward", "probe", "probe", "update"))


def spoil_room(rng, plan, o):
    """A room that is not free, not in the arena or not aligned."""
    length = plan[L.ARENA_LEN]
    offset, size = rng.choice(
        (
            (plan[o + L.IN_OFF], 1 << 14),
            (plan[o + L.OUT_OFF], 4),
            (plan[L.SCRATCH_OFF] - 4, 1 << 12),
            (0, length),
            (2, 1 << 12),
            (length - 4, 1 << 14),
            (-4, 1 << 14),
            (1 << 30, (1 << 31) - 1),
            (0, -1),
        )
    )
    plan[o + L.IN2_OFF], plan[o + L.ROOM_LEN] = offset, size


def large_cases():
    """Convolutions larger than the buffers of a fast path, and just as large."""
    shapes = (
        ((3, 3, 520), 3, 3),
        ((3, 3, 512), 3, 17),
        ((120, 120, 9), 1, 2),
        ((120, 109, 10), 1, 2),
        ((30, 30, 16), 3, 20),
    )
    for i, (shape, k, channels) in enumerate(shapes):
        rng = random.Random(f"large-{i}")
        net = LayerNetwork(rng, shape, True)
        t = net.conv(0, channels, (k, k), (1, 1), (k // 2,) * 4)
        net.pool(t, L.MAXPOOL, net.shapes[t][:2], (1, 1))
        net.first = 0
        net.finish(trainable=0)
        yield from casegen.net_cases(rng, net, ("forward", "stats"))


def convs(plan):
    return [o for o in planner.bases(plan) if plan[o + L.KIND] == L.CONV]


def room_cases():
    """Convolutions beside free arena, whose tensors are those of the oracle; rooms that are no
    place for anything are not used."""
    for i in range(40):
        rng = random.Random(f"room-{i}")
        side = rng.randint(10, 14)
        net = LayerNetwork(rng, (side, side, 4), i % 4 != 0)
        t = net.conv(0, rng.choice((40, 64)), (1, 1))
        t = net.pool(t, L.AVGPOOL, (3, 3), (3, 3))
        t = net.conv(t, rng.choice((4, 6, 8)), (1, 1))
        t = net.conv(t, rng.choice((40, 64, 65)), (3, 3), (1, 1), (1, 1, 1, 1))
        t = net.pool(t, L.AVGPOOL, net.shapes[t][:2], (1, 1))
        net.dense(t, 10, True)
        net.first = 0
        net.finish(trainable=rng.choice((0, 2)), rooms=True)
        for o in convs(net.plan) if i % 3 == 0 else ():
            spoil_room(rng, net.plan, o)
        if i % 3:
            assert any(net.plan[o + L.ROOM_LEN] > net.plan[L.SCRATCH_LEN] for o in convs(net.plan))
        o = L.op_base(len(net.ops) - 1)
        region = net.plan[o + L.OUT_OFF], net.plan[o + L.OUT_OFF] + 10
        for case in casegen.net_cases(rng, net, ("forward", "forward", "probe", "probe")):
            case.args[3].region = region
            yield case


def gradient_cases():
    """Gradients of convolutions of every kind of row and window, on images of more positions than
    are summed at once."""
    for i in range(50):
        rng = random.Random(f"gradient-{i}")
        side = rng.choice((3, 8, 8, 15))
        net = netgen.tail_net(rng, None, side, (1, 3, 4, 8, 12, 16, 20, 28, 40))
        if rng.random() < 0.7:  # most outputs count
            o = L.op_base(net.tail)
            net.plan[o + L.ACT_MIN], net.plan[o + L.ACT_MAX] = -128, rng.choice((126, 127))
        functions = ("tail_grad", "tail_grad", "node_grad", "node_grad", "head_grad", "apply_grad")
        yield from casegen.net_cases(rng, net, functions)


def sum_cases():
    """Sums and differences of two tensors, with the shifts of networks and with any."""
    for i in range(30):
        rng = random.Random(f"sum-{i}")
        channels = rng.choice(CHANNELS[:16])
        net = LayerNetwork(rng, (rng.randint(1, 6), rng.randint(1, 6), channels), i % 2 == 0)
        t = net.add(0, net.conv(0, channels, (1, 1)))
        for mult, shift in (("MULT1", "SHIFT1"), ("MULT2", "SHIFT2")):
            if rng.random() < 0.5:  # one half, as the input of the larger scale has it
                net.ops[-1].update({mult: rng.choice((1, -1)) << 30, shift: 0})
        if rng.random() < 0.8:
            net.ops[-1]["SHIFT"] = -rng.choice((1, 16, 17, 18, 19, 20, 22, 23))
        h, w, _ = net.shapes[t]
        net.pool(t, L.MAXPOOL, (h, w), (1, 1))
        net.first = 0
        net.finish(trainable=0)
        yield from casegen.net_cases(rng, net, ("forward", "forward", "forward"))


def _call_update(rng, net, coefs, shift):
    pairs = [v for coef in coefs for v in (casegen.seed(rng), coef)]
    maker = casegen.NetCases(rng, net)
    params = casegen.ints((0, maker.n, 3, len(coefs), shift))
    return casegen.Case("update", [*maker.net_args(), params, casegen.ints(pairs)])


def _update(rng, net, n, top, shift):
    coefs = [rng.choice((top, -top, rng.randint(-top, top))) for _ in range(n)]
    return _call_update(rng, net, coefs, shift)


def update_cases():
    """Updates of rows of every kind of length by every number of pairs, large steps and small."""
    for k in (1, 3, 8, 9, 16, 28, 32, 36, 48, 72, 100):
        for pairs in (0, 1, 2, 3, 4, 5, 9):
            rng = random.Random(f"update-{k}-{pairs}")
            net = LayerNetwork(rng, (1, 1, k), True)
            net.dense(0, rng.choice((1, 3, 8)))
            net.first = 0
            net.finish(trainable=2)
            for top, shift in ((300, 8), (1 << 20, 3), (1 << 20, 14), (1, 31)):
                yield _update(rng, net, pairs, top, shift)


class NearEnds(LayerNetwork):
    """Masters mostly a step away from their limits and from 0."""

    def state(self):
        state, rng = super().state(), self.rng
        o = L.op_base(0)
        masters = [
            rng.choice((1, -1)) * (32512 - rng.choice((0, 0, 1, 127, rng.randint(0, 520))))
            if rng.random() < 0.4
            else rng.choice((0, -1, 1, rng.randint(-520, 520), rng.randint(-32512, 32512)))
            for _ in range(self.plan[o + L.OUT_C] * planner.row_len(self.plan, o))
        ]
        struct.pack_into(f"<{len(masters)}h", state, self.plan[o + L.MASTER_OFF], *masters)
        return state


def few_pairs_cases():
    """Up to five pairs; their steps add up to 255, the most of the fast paths, or to more."""
    lengths = (*range(4, 72, 4), 72, 96, 100, 128, 144, 6, 31, 33)
    for k in lengths:
        for n in (1, 2, 3, 4, 5):
            rng = random.Random(f"few-{k}-{n}")
            net = NearEnds(rng, (1, 1, k), True)
            net.dense(0, rng.choice((1, 2, 3, 5)))
            net.first = 0
            net.finish(trainable=2)
            eps = max(1, net.plan[L.op_base(0) + L.EPS_W])
            for most in (1, 40, 254, 255, 256, 300, 5000):
                shift = rng.choice((0, 1, 8, 11))
                top = min(1 << 20, ((most << shift) + eps - 1) // eps)
                left = [rng.randint(0, top) for _ in range(n - 1)]
                cuts = [0, *sorted(left), top]
                coefs = [rng.choice((1, -1)) * (b - a) for a, b in itertools.pairwise(cuts)]
                yield _call_update(rng, net, coefs, shift)


def pair_cases():
    """Probes whose first layer is dense: as many outputs as both passes share, and more."""
    for channels in (1, 15, 16, 17, 63, 64, 65, 100, 127, 128, 129):
        for logits in (False, True):
            rng = random.Random(f"pair-{channels}-{logits}")
            net = LayerNetwork(rng, (1, 1, rng.choice((32, 40, 64, 96))), True)
            t = net.dense(0, channels, logits)
            if not logits:
                net.dense(t, 5, True)
            net.first = 0
            net.finish(trainable=2)
            yield from casegen.net_cases(rng, net, ("probe", "probe", "probe", "node"))


def kept_cases():
    """(probe that finds no products of its first layer, channels, what it can keep of them)."""
    for channels in (1, 15, 16, 17, 64, 127, 128):
        for mode in (4, 5, 6, 7):
            rng = random.Random(f"kept-{channels}-{mode}")
            net = LayerNetwork(rng, (1, 1, rng.choice((32, 64, 96))), True)
            net.dense(net.dense(0, channels), 5, True)
            net.first = 0
            net.finish(trainable=rng.choice((0, 2)))
            maker = casegen.NetCases(rng, net)
            args = maker.net_args(L.PIN_LEN)
            params = casegen.ints((0, casegen.seed(rng), 2, mode, 7, 0, rng.choice((0, 1, 2)), 0))
            out = casegen.ints((0, 0, 0, *range(L.KEPT + 5)), region=(0, 8))
            case = casegen.Case("probe", [*args, params, out])
            yield case, channels, casegen.products(args, 0, mode & 1)


def chain_cases():
    """Probes through several dense layers, which both passes run together where they can; the
    arena is as if one pass had run after the other."""
    for i in range(60):
        rng = random.Random(f"chain-{i}")
        net = LayerNetwork(rng, (1, 1, rng.choice((8, 16, 32, 40, 64, 100))), i % 4 != 0)
        t = 0
        for _ in range(rng.randint(1, 4)):
            t = net.dense(t, rng.choice((1, 4, 8, 8, 16, 24, 64, 100, 128, 128, 129)))
        if rng.random() < 0.3:
            t = net.add(t, net.dense(t, net.shapes[t][2]))
        net.dense(t, rng.choice((2, 5, 10)), rng.random() < 0.7)
        net.first = 0
        net.finish(trainable=rng.choice((0, 0.5, 1, 2)))
        for case in casegen.net_cases(rng, net, ("probe",) * 4):
            case.args[3].region = 0, net.plan[L.SCRATCH_OFF]
            yield case
