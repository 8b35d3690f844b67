"""Cases of single layers, with the shapes that the fast paths distinguish."""

import random

import casegen
import netgen

from microzo import layout as L


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


FUNCTIONS = ("forward", "forward", "forward", "probe", "probe", "update", "stats")


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
