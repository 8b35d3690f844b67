"""The networks of the bench: single layers of the laboratory's notes/kernels.md, and the test
network."""

import random
import struct
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
for folder in ("tests/kernels", "device", "host_tools"):
    sys.path.insert(0, str(ROOT / folder))

import netgen  # noqa: E402

from microzo.net import words as L  # noqa: E402


class BenchNetwork(netgen.Network):
    """Parameters as a trained network has them: ordinary multipliers, full clamp range."""

    def zero_point(self):
        return -128

    def clamp(self):
        return -128, 127

    def mult_shift(self, typical):
        return self.rng.randrange(1 << 30, 1 << 31), min(-1, typical)

    def weights(self, count):
        return bytes(self.rng.randint(-127, 127) & 255 for _ in range(count))

    def parameters(self, op_kind, k, channels, zp, logits=False):
        words = super().parameters(op_kind, k, channels, zp, logits)
        bound = 127 + 1
        f = 8
        while (bound * 255 * k + 30000) << f >= 1 << 30 or bound << f > 32767:
            f -= 1
        bias = [self.rng.randint(-30000, 30000) for _ in range(channels)]
        words["B_OFF"] = self.put(struct.pack("<%di" % channels, *bias))
        words.update(EPS_W=1, EPS_B=1, B_MAX=30000, F=f, FLAGS=L.EMIT_LOGITS if logits else 0)
        return words


SAME3 = (1, 1, 1, 1)

LAYERS = (
    ("conv3x3_1-16_28s2", (28, 28, 1), lambda n: n.conv(0, 16, (3, 3), (2, 2), (0, 1, 0, 1))),
    ("conv3x3_8-16_14", (14, 14, 8), lambda n: n.conv(0, 16, (3, 3), (1, 1), SAME3)),
    ("pw_16-32_14", (14, 14, 16), lambda n: n.conv(0, 32, (1, 1))),
    ("pw_64-64_7", (7, 7, 64), lambda n: n.conv(0, 64, (1, 1))),
    ("dw3x3_32_14", (14, 14, 32), lambda n: n.dwconv(0, 1, (3, 3), (1, 1), SAME3)),
    ("dw3x3_64_7", (7, 7, 64), lambda n: n.dwconv(0, 1, (3, 3), (1, 1), SAME3)),
    ("dw3x3_32_14s2", (14, 14, 32), lambda n: n.dwconv(0, 1, (3, 3), (2, 2), (0, 1, 0, 1))),
    ("fc_1024-64", (1, 1, 1024), lambda n: n.dense(0, 64)),
    ("fc_64-10", (1, 1, 64), lambda n: n.dense(0, 10)),
    ("fc_64-10-logits", (1, 1, 64), lambda n: n.dense(0, 10, True)),
    ("pw_4-32_14", (14, 14, 4), lambda n: n.conv(0, 32, (1, 1))),
)


def plan_layer(name, shape, build):
    net = BenchNetwork(random.Random(name), shape)
    build(net)
    last = net.ops[-1]
    # A layer alone ends its network, whose logits would be too many: they are not made.
    size = last["OUT_H"] * last["OUT_W"] * last["OUT_C"]
    net.finish(trainable=2, rooms=True)
    if size > 1024:
        net.plan[L.CLASSES] = 1
    return name, net


def step_network():
    """Section 5b of the reference: 514,944 multiplications, 8,304 weights, with its pools."""
    net = BenchNetwork(random.Random("test"), (28, 28, 1))
    t = net.conv(0, 16, (3, 3), (2, 2), (0, 1, 0, 1))
    t = net.conv(t, 32, (1, 1))
    t = net.dwconv(t, 1, (3, 3), (1, 1), SAME3)
    t = net.pool(t, L.AVGPOOL, (2, 2), (2, 2))
    t = net.conv(t, 64, (1, 1))
    t = net.dwconv(t, 1, (3, 3), (1, 1), SAME3)
    t = net.conv(t, 64, (1, 1))
    t = net.pool(t, L.AVGPOOL, (7, 7), (1, 1))
    net.dense(t, 10, True)
    return "test", net.finish(trainable=2, rooms=True)


def all_nets():
    nets = [plan_layer(*layer) for layer in LAYERS]
    return [*nets, step_network()]


def image(nets):
    """The bytes that firmware/bench.c reads."""
    out = [b"MZB1", struct.pack("<I", len(nets))]
    for name, net in nets:
        plan, blob = net.plan.tobytes(), bytes(net.blob)
        blob += bytes(-len(blob) % 8)
        out += [
            name.encode()[:16].ljust(16, b"\0"),
            struct.pack("<2I", len(plan), len(blob)),
            plan,
            blob,
        ]
    return b"".join(out)
