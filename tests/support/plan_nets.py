"""Plans for tests, written by hand or drawn; without parameters that mean anything."""

import struct
import zlib
from array import array

from microzo.net import words as L


class Plan:
    """Adds operators one by one; `made()` is the plan as in a file."""

    def __init__(self, shape):
        self.shapes, self.ops = [tuple(shape)], []

    def add(self, kind, source, channels=None, k=(1, 1), s=(1, 1), p=(0, 0, 0, 0), source2=-1):
        h, w, c = shape = self.shapes[source]
        if kind == L.DENSE:
            shape, out = (1, 1, h * w * c), (1, 1, channels)
        else:
            out = (
                (h + p[0] + p[1] - k[0]) // s[0] + 1,
                (w + p[2] + p[3] - k[1]) // s[1] + 1,
                channels or c,
            )
        if kind == L.CONCAT:
            out = (h, w, c + self.shapes[source2][2])
        tensors = [source, source2, len(self.shapes), 0, 0, 0]
        words = [kind, 0, len(self.ops), *tensors, *shape, *out, *k, *s, *p, 0, 0, 0, -128, 100]
        words += [0] * 6 + [-1, 0, 1000, 1, 4] + [-1] * 3  # parameters, statistics, training
        words += [0] * 4 if kind <= L.DENSE else [1 << 30, 0, 1 << 30, 0]  # 42.. of weights
        words += [1 << 30, 0]
        self.ops.append(words)
        self.shapes.append(out)
        return len(self.shapes) - 1

    def made(self):
        h, w, c = self.shapes[-1]
        last = self.ops[-1][L.OUT]
        counts = [len(self.ops), len(self.shapes), *self.shapes[0], h * w * c, 0, last]
        head = [L.MAGIC_VALUE, 1, 0, *counts, 0, 0, 1 << 30, 0, 1 << 20]
        plan = array("i", head + [0] * 16 + [word for words in self.ops for word in words])
        place_arrays(plan)
        return plan


def place_arrays(plan):
    """Gives the arrays of all operators a place of their own, behind the table and room for a
    covariance."""
    at = 1 << 14
    for o in range(L.HEADER_WORDS, len(plan), L.OP_WORDS):
        channels = plan[o + L.OUT_C]
        weights = channels * plan[o + L.K_H] * plan[o + L.K_W] * plan[o + L.IN_C]
        constant = plan[o + L.IN_H] * plan[o + L.IN_W] * plan[o + L.IN_C]
        plan[o + L.W_OFF] = at
        at += (max(weights, constant, 256) + 3) & ~3
        for word in range(L.B_OFF, L.LS_OFF + 1):
            plan[o + word] = at
            at += 4 * channels
    plan[L.BLOB_LEN] = max(1 << 20, at)


def chain(shape, channels, kernel=3):
    """Convolutions that keep the image's size."""
    net = Plan(shape)
    t = 0
    for c in channels:
        t = net.add(L.CONV, t, c, (kernel, kernel), p=(kernel // 2,) * 4)
    return net.made()


def every_kind():
    """Every operator once, with 6x6x3 images and 10 classes."""
    net = Plan((6, 6, 3))
    a = net.add(L.CONV, 0, 8, (3, 3), p=(1, 1, 1, 1))
    b = net.add(L.DWCONV, a, 8, (3, 3), p=(1, 1, 1, 1))
    t = net.add(L.ADD, a, source2=b)
    t = net.add(L.PAD, t, p=(1, 1, 0, 1))
    t = net.add(L.MAXPOOL, t, k=(2, 2), s=(2, 2))
    t = net.add(L.AVGPOOL, t, k=(4, 3))
    net.add(L.DENSE, t, 10)
    return net.made()


def imported():
    """The operators that only imported graphs have, on 6x6x4 values."""
    net = Plan((6, 6, 4))
    a = net.add(L.MUL, 0)
    b = net.add(L.LUT, a)
    t = net.add(L.CONCAT, a, source2=b)
    t = net.add(L.MEAN, t, k=(6, 6))
    net.add(L.DENSE, t, 10)
    return net.made()


def random_plan(rng):
    """Convolutions, residuals over any distance, dead branches, pools, a dense end."""
    net = Plan((rng.randint(1, 9), rng.randint(1, 9), rng.randint(1, 5)))
    t = 0
    for _ in range(rng.randint(1, 12)):
        same = [u for u in range(len(net.shapes)) if net.shapes[u] == net.shapes[t]]
        kind = rng.choice((L.CONV, L.CONV, L.ADD, L.ADD, L.MAXPOOL, L.PAD))
        if kind == L.CONV:
            made = net.add(
                kind,
                rng.choice((t, t, rng.choice(same))),
                rng.choice((net.shapes[t][2], rng.randint(1, 9))),
            )
        elif kind == L.ADD:
            made = net.add(kind, t, source2=rng.choice(same))
        elif kind == L.PAD:
            made = net.add(kind, t, p=(rng.randint(0, 2), 0, 0, rng.randint(0, 2)))
        else:
            made = net.add(kind, t, k=(1, min(2, net.shapes[t][1])), s=(1, 2))
        t = made if rng.random() < 0.9 else t
    net.add(L.DENSE, t, rng.randint(1, 20))
    return net.made()


def write(plan, path):
    """A model file of a plan, all its arrays 0; the path as a string."""
    plan[L.BLOB_CRC], plan[L.PLAN_CRC] = signed(zlib.crc32(bytes(plan[L.BLOB_LEN]))), 0
    plan[L.PLAN_CRC] = signed(zlib.crc32(plan))
    path.write_bytes(struct.pack("<Q", 8) + b"{}      " + plan.tobytes() + bytes(plan[L.BLOB_LEN]))
    return str(path)


def signed(crc):
    return crc - (1 << 32) if crc >> 31 else crc
