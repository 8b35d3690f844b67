"""Random networks for the kernel tests: a plan and its blob."""

import struct
from array import array

from microzo.net import arena as planner
from microzo.net import words as L


class Network:
    """Builds plan (array('i')) and blob (bytearray) operator by operator; parameters are drawn
    from `rng`.

    rng is a random.Random or a hypothesis stand-in for it. Tensors are numbered as they are made;
    `shape(t)` is (h, w, c).
    """

    def __init__(self, rng, shape, in_zp=None):
        self.rng = rng
        self.shapes, self.ops, self.blob = [tuple(shape)], [], bytearray()
        self.zero = [self.zero_point() if in_zp is None else in_zp]
        self.table_off = self.put(bytes(rng.randrange(256) for _ in range(256)))
        self.plan = None

    # random parameters

    def zero_point(self):
        return self.rng.choice((-128, 127, 0, self.rng.randint(-128, 127)))

    def clamp(self):
        low, high = sorted((self.rng.randint(-128, 127), self.rng.randint(-128, 127)))
        return self.rng.choice(((-128, 127), (-128, 127), (low, high)))

    def mult_shift(self, typical):
        """A legal multiplier and shift, mostly near the typical one, sometimes extreme."""
        rng = self.rng
        mult = rng.choice(
            (
                1 << 30,
                (1 << 31) - 1,
                rng.randrange(1 << 30, 1 << 31),
                rng.randrange(1 << 30, 1 << 31),
            )
        )
        shift = typical + rng.randint(-2, 2)
        if rng.random() < 0.08:
            mult, shift = rng.choice(
                ((0, 0), (mult, 30), (mult, -31), ((1 << 31) - 1, rng.randint(-31, 30)))
            )
        return mult, max(-31, min(30, shift))

    def weights(self, count):
        rng = self.rng
        style = rng.choice(("any", "any", "ends", "low"))
        if style == "ends":
            return bytes(rng.choice((127, 129, 128)) for _ in range(count))
        if style == "low":
            return bytes(rng.randint(-3, 3) & 255 for _ in range(count))
        return bytes(rng.randint(-127, 127) & 255 for _ in range(count))

    # building

    def put(self, data):
        at = len(self.blob)
        self.blob += data + bytes(-len(data) % 4)
        return at

    def emit(self, kind, t, out_shape, **words):
        h, w, c = self.shapes[t]
        op = dict(
            KIND=kind, TID=len(self.ops), IN=t, IN2=-1, OUT=len(self.shapes),
            IN_H=h, IN_W=w, IN_C=c,
            OUT_H=out_shape[0], OUT_W=out_shape[1], OUT_C=out_shape[2], K_H=1, K_W=1, S_H=1, S_W=1,
            IN_ZP=self.zero[t], OUT_ZP=self.zero[t], ACT_MIN=-128, ACT_MAX=127, STAT_OFF=-1,
            MASTER_OFF=-1, BIAS_OFF=-1, MS_OFF=-1,
        )  # fmt: skip
        op.update(words)
        self.ops.append(op)
        self.shapes.append(tuple(out_shape))
        self.zero.append(op["OUT_ZP"])
        return op["OUT"]

    def window(self, t, k, s, p, d=(1, 1)):
        h, w, _ = self.shapes[t]
        if max(d) > 1:
            shape = self.window(t, [(n - 1) * apart + 1 for n, apart in zip(k, d)], s, p)[:2]
            return *shape, self.window(t, (1, 1), s, p)[2] | dict(
                K_H=k[0], K_W=k[1], DIL_H=d[0], DIL_W=d[1]
            )
        words = dict(
            zip(
                ("K_H", "K_W", "S_H", "S_W", "P_T", "P_B", "P_L", "P_R"),
                (*k, *s, *p),
                strict=False,
            )
        )
        return (h + p[0] + p[1] - k[0]) // s[0] + 1, (w + p[2] + p[3] - k[1]) // s[1] + 1, words

    def parameters(self, op_kind, k, channels, zp, logits=False):
        """Words and blob parts of an operator with weights; k: weights of one output channel."""
        rng = self.rng
        eps_w, eps_b = rng.choice((0, 1, 1, 2, 3, 8, 127)), rng.choice((0, 1, 2, 4, 16))
        swing = max(127 - zp, zp + 128)
        room = (1 << 30) - 1 - (127 + eps_w) * swing * k
        b_max = min(rng.choice((0, 500, 30000, 1 << 20, 1 << 29)), room)
        f_max = max(
            f
            for f in range(9)
            if ((127 + eps_w) * swing * k + b_max) << f < 1 << 30 and (127 + eps_w) << f < 1 << 15
        )
        typical = -max(0, (k * 127 * 60).bit_length() - 8)
        scales = [self.mult_shift(typical) for _ in range(channels)]
        bias = [rng.choice((-b_max, b_max, rng.randint(-b_max, b_max))) for _ in range(channels)]
        low, high = self.clamp()
        words = dict(
            FLAGS=rng.choice((0, 0, L.ROUND_ONCE)), OUT_ZP=self.zero_point(),
            ACT_MIN=low, ACT_MAX=high, B_MAX=b_max, EPS_W=eps_w, EPS_B=eps_b,
            F=rng.choice((f_max, f_max, rng.randint(0, f_max))),
            W_OFF=self.put(self.weights(channels * k)),
            B_OFF=self.put(struct.pack(f"<{channels}i", *bias)),
            M_OFF=self.put(struct.pack(f"<{channels}i", *(m for m, _ in scales))),
            S_OFF=self.put(struct.pack(f"<{channels}b", *(s for _, s in scales))),
        )  # fmt: skip
        spread = [
            rng.choice((0, 1, rng.randrange(1 << 20), rng.randrange(1 << 31)))
            for _ in range(channels)
        ]
        mean = [
            rng.choice((0, rng.randint(-b_max - 1, b_max), rng.randint(-(1 << 30), 1 << 30)))
            for _ in range(channels)
        ]
        words["STAT_OFF"] = self.put(struct.pack(f"<{2 * channels}i", *mean, *spread))
        if logits:
            scales = [self.mult_shift(typical + 8) for _ in range(channels)]
            words.update(
                FLAGS=words["FLAGS"] | L.EMIT_LOGITS,
                L_OFF=self.put(struct.pack(f"<{channels}i", *(m for m, _ in scales))),
                LS_OFF=self.put(struct.pack(f"<{channels}b", *(s for _, s in scales))),
            )
        return words

    def conv(self, t, channels, k=(3, 3), s=(1, 1), p=(0, 0, 0, 0), logits=False, d=(1, 1)):
        out_h, out_w, words = self.window(t, k, s, p, d)
        words.update(
            self.parameters(
                L.CONV, k[0] * k[1] * self.shapes[t][2], channels, self.zero[t], logits
            )
        )
        return self.emit(L.CONV, t, (out_h, out_w, channels), **words)

    def dwconv(self, t, multiplier=1, k=(3, 3), s=(1, 1), p=(0, 0, 0, 0), d=(1, 1)):
        out_h, out_w, words = self.window(t, k, s, p, d)
        channels = multiplier * self.shapes[t][2]
        words.update(self.parameters(L.DWCONV, k[0] * k[1], channels, self.zero[t]))
        return self.emit(L.DWCONV, t, (out_h, out_w, channels), **words)

    def dense(self, t, channels, logits=False):
        h, w, c = self.shapes[t]
        words = self.parameters(L.DENSE, h * w * c, channels, self.zero[t], logits)
        return self.emit(L.DENSE, t, (1, 1, channels), IN_H=1, IN_W=1, IN_C=h * w * c, **words)

    def pool(self, t, kind, k, s, p=(0, 0, 0, 0)):
        out_h, out_w, words = self.window(t, k, s, p)
        low, high = self.clamp()
        return self.emit(
            kind, t, (out_h, out_w, self.shapes[t][2]), ACT_MIN=low, ACT_MAX=high, **words
        )

    def pad(self, t, p):
        h, w, c = self.shapes[t]
        words = dict(zip(("P_T", "P_B", "P_L", "P_R"), p, strict=False))
        return self.emit(L.PAD, t, (h + p[0] + p[1], w + p[2] + p[3], c), **words)

    def second(self, t, u):
        """Words of a second operand: tensor u, spread if smaller than t; None: a constant."""
        h, w, c = self.shapes[t]
        if u is None:
            flags = self.rng.choice((0, L.SPREAD_HW, L.SPREAD_C, L.SPREAD_HW | L.SPREAD_C))
            count = (1 if flags & L.SPREAD_HW else h * w) * (1 if flags & L.SPREAD_C else c)
            return dict(FLAGS=flags, IN2_ZP=self.zero_point(), W_OFF=self.put(self.weights(count)))
        flags = L.SPREAD_HW if self.shapes[u][:2] != (h, w) else 0
        flags |= L.SPREAD_C if self.shapes[u][2] != c else 0
        return dict(FLAGS=flags, IN2=u, IN2_ZP=self.zero[u])

    def output(self, typical):
        """Words of an output with its own scale."""
        words = dict(zip(("MULT", "SHIFT"), self.mult_shift(typical)), OUT_ZP=self.zero_point())
        words["ACT_MIN"], words["ACT_MAX"] = self.clamp()
        return words

    def add(self, t, u):
        words = self.second(t, u) | self.output(-18)
        for mult, shift in (("MULT1", "SHIFT1"), ("MULT2", "SHIFT2")):
            words[mult], words[shift] = self.mult_shift(-1)
            words[mult] *= self.rng.choice((1, 1, -1))
            words[shift] = min(words[shift], 0)
        return self.emit(L.ADD, t, self.shapes[t], **words)

    def mul(self, t, u):
        return self.emit(L.MUL, t, self.shapes[t], **(self.second(t, u) | self.output(-6)))

    def mean(self, t, k, s):
        out_h, out_w, words = self.window(t, k, s, (0, 0, 0, 0))
        words |= self.output(1 - (k[0] * k[1]).bit_length())
        words["MULT"] = self.rng.choice((words["MULT"], words["MULT"] // 2, 1 << 29))
        return self.emit(L.MEAN, t, (out_h, out_w, self.shapes[t][2]), **words)

    def concat(self, t, u):
        """Joins two tensors that differ in one dimension at most."""
        a, b = self.shapes[t], self.shapes[u]
        axis = next((i for i in (0, 1, 2) if a[i] != b[i]), self.rng.randrange(3))
        shape = [n + m if i == axis else n for i, (n, m) in enumerate(zip(a, b))]
        return self.emit(L.CONCAT, t, shape, IN2=u, IN2_ZP=self.zero[u])

    def lut(self, t):
        table = self.put(self.weights(256))
        return self.emit(L.LUT, t, self.shapes[t], W_OFF=table, OUT_ZP=self.zero_point())

    # finishing

    def finish(self, trainable=0.8, first=0, pin_outputs=(), rooms=False):
        """Makes the plan; a share `trainable` of the parts gets a place in the state.

        rooms: a CONV may write where the arena is free, so that the rest of it differs from the
        oracle's."""
        rng, last = self.rng, self.ops[-1]
        n = len(self.ops)
        plan = self.plan = array("i", [0] * L.op_base(n))
        classes = last["OUT_H"] * last["OUT_W"] * last["OUT_C"]
        if last.get("FLAGS"):
            mult, shift = 0, 0
        else:
            mult, shift = self.mult_shift(4)
        header = dict(
            MAGIC=L.MAGIC_VALUE, MAJOR=1, MINOR=0, N_OPS=n, N_TENSORS=len(self.shapes),
            CLASSES=classes, IN_TENSOR=0,
            NET_IN_H=self.shapes[0][0], NET_IN_W=self.shapes[0][1], NET_IN_C=self.shapes[0][2],
            OUT_TENSOR=last["OUT"],
            NET_IN_ZP=self.zero[0], TABLE_OFF=self.table_off,
            LOGIT_MULT=mult or (0 if last.get("FLAGS") else 1 << 30),
            LOGIT_SHIFT=shift, BLOB_LEN=len(self.blob), NET_FLAGS=L.HAS_STATS,
        )  # fmt: skip
        for name, value in header.items():
            plan[getattr(L, name)] = value
        for i, op in enumerate(self.ops):
            for name, value in op.items():
                plan[L.op_base(i) + getattr(L, name)] = value
        planner.layout(plan, first, pin_outputs)
        for i, op in enumerate(self.ops):
            if op["KIND"] == L.CONV and not rooms:
                plan[L.op_base(i) + L.ROOM_LEN] = 0
        selections = []
        for i, op in enumerate(self.ops):
            if op["KIND"] <= L.DENSE:
                selections.append((i, sum(bit for bit in (1, 2, 4) if rng.random() < trainable)))
        planner.place_state(plan, selections)
        return self

    def state(self):
        """Random masters, biases and multipliers, in range, with extremes."""
        rng, plan = self.rng, self.plan
        state = bytearray(plan[L.STATE_LEN])
        for i in range(len(self.ops)):
            o = L.op_base(i)
            channels, k = plan[o + L.OUT_C], planner.row_len(plan, o)
            if plan[o + L.MASTER_OFF] >= 0:
                top = rng.choice((32512, 32512, 1000))
                masters = [
                    rng.choice((-top, top, rng.randint(-top, top), rng.randint(-top, top)))
                    for _ in range(channels * k)
                ]
                struct.pack_into(f"<{len(masters)}h", state, plan[o + L.MASTER_OFF], *masters)
            if plan[o + L.BIAS_OFF] >= 0:
                top = plan[o + L.B_MAX]
                bias = [rng.choice((-top, top, rng.randint(-top, top))) for _ in range(channels)]
                struct.pack_into(f"<{channels}i", state, plan[o + L.BIAS_OFF], *bias)
            if plan[o + L.MS_OFF] >= 0:
                typical = -max(0, (k * 127 * 60).bit_length() - 8)
                scales = [self.mult_shift(typical) for _ in range(channels)]
                struct.pack_into(
                    f"<{channels}i", state, plan[o + L.MS_OFF], *(m for m, _ in scales)
                )
                struct.pack_into(
                    f"<{channels}b",
                    state,
                    plan[o + L.MS_OFF] + 4 * channels,
                    *(s for _, s in scales),
                )
        return state

    def arena(self):
        """Random activations everywhere (also in the scratch), extremes included."""
        rng, length = self.rng, self.plan[L.ARENA_LEN]
        pattern = bytes(
            rng.choice((0, 127, 128, rng.randrange(256), rng.randrange(256)))
            for _ in range(min(length, 997))
        )
        return bytearray((pattern * (length // len(pattern) + 1))[:length])


def pads(rng, k, most=3):
    """Top, bottom, left, right, each at most `most` and below the kernel k."""
    return tuple(rng.choice((0, 0, rng.randint(0, min(most, k[i // 2] - 1)))) for i in range(4))


def dilation(rng, size, k):
    """Down and to the right; a third of the kernels that have room for one have one."""
    most = [(n - 1) // (cells - 1) if cells > 1 else 3 for n, cells in zip(size, k)]
    if rng.random() < 0.7:
        return 1, 1
    return tuple(rng.randint(1, max(1, n)) for n in most)


def random_net(rng, content=None, limit=9, channels=8):
    """One to seven operators of random kinds, ended by something that makes at most 16 logits.

    rng draws the structure, content (default: rng) the parameters; limit: largest input side. The
    plan is laid out for passes that start at `net.first`.
    """
    net = Network(
        content or rng,
        (rng.randint(1, limit), rng.randint(1, limit), rng.choice((1, 1, 2, 3, 4, 5, 8))),
    )
    t = 0
    for _ in range(rng.choice((0, 1, 1, 2, 3, 5))):
        t = random_op(net, rng, t, channels)
    h, w, _ = net.shapes[t]
    end = rng.choice(("dense", "dense", "logits", "logits", "pool", "conv"))
    if end == "pool" and net.ops:
        net.pool(t, L.AVGPOOL, (h, w), (1, 1))
    elif end == "conv":
        net.conv(t, rng.randint(1, 12), (h, w), (1, 1), logits=True)
    else:
        net.dense(t, rng.choice((1, 2, 3, 7, 10, 16)), logits=end == "logits")
    net.first = rng.randrange(len(net.ops))
    return net.finish(first=net.first)


def random_op(net, rng, t, most_channels):
    h, w, c = net.shapes[t]
    k = (rng.randint(1, min(h, 5)), rng.randint(1, min(w, 5)))
    s = (rng.randint(1, 3), rng.randint(1, 3))
    kinds = "conv conv dw dw avg max add pad residual mean mul concat lut"
    kind = rng.choice(kinds.split())
    if kind == "conv":
        d = dilation(rng, (h, w), k)
        return net.conv(t, rng.randint(1, most_channels), k, s, pads(rng, (9, 9)), d=d)
    if kind == "dw":
        d = dilation(rng, (h, w), k)
        return net.dwconv(t, rng.choice((1, 1, 2, 3)), k, s, pads(rng, (9, 9)), d=d)
    if kind in ("avg", "max"):
        return net.pool(t, L.AVGPOOL if kind == "avg" else L.MAXPOOL, k, s, pads(rng, k))
    if kind == "pad":
        sides = pads(rng, (9, 9))
        if rng.random() < 0.4:  # some are cut off, at least a value stays
            top, left = rng.randint(0, h - 1), rng.randint(0, w - 1)
            sides = -top, rng.choice((2, top + 1 - h)), rng.choice((1, -left)), 0
        return net.pad(t, sides)
    if kind == "mean":
        return net.mean(t, k, s)
    if kind == "lut":
        return net.lut(t)
    shapes = net.shapes
    if kind == "concat":
        near = [
            u for u in range(len(shapes)) if sum(a != b for a, b in zip(shapes[u], shapes[t])) < 2
        ]
        return net.concat(t, rng.choice(near))
    if kind in ("add", "mul"):
        fits = [
            u for u, (*size, n) in enumerate(shapes) if size in ([h, w], [1, 1]) and n in (c, 1)
        ]
        return (net.add if kind == "add" else net.mul)(t, rng.choice((None, *fits, *fits)))
    u = net.conv(t, c, (1, 1)) if rng.random() < 0.5 else net.dwconv(t, 1, (1, 1))
    return net.add(u, t)


def tail_net(rng, content=None, side=8, channels=(1, 2, 3, 4, 5, 8, 12)):
    """A convolution `net.tail`, perhaps an ADD, perhaps an average pool, and a head `net.head`."""
    shape = rng.randint(1, side), rng.randint(1, side), rng.choice(channels)
    net = Network(content or rng, shape)
    t = net.dwconv(0, 1, (1, 1)) if rng.random() < 0.3 else 0
    h, w, _ = net.shapes[t]
    k = (rng.randint(1, min(h, 3)), rng.randint(1, min(w, 3)))
    shape = rng.randint(1, 6), k, (rng.randint(1, 2), rng.randint(1, 2)), pads(rng, (9, 9), 2)
    d = dilation(rng, (h, w), k)
    both = [net.conv(t, *shape, d=d) for _ in range(rng.choice((1, 1, 2)))]
    t = rng.choice(both)
    net.tail = net.first = len(net.ops) - len(both) + both.index(t)
    kept = [net.tail]
    if len(both) > 1:
        rng.shuffle(both)
        kept.append(len(net.ops))
        t = net.add(*both)
    if rng.random() < 0.7:
        k = (rng.randint(1, net.shapes[t][0]), rng.randint(1, net.shapes[t][1]))
        once = (rng.randint(size - n + 1, size + 1) for n, size in zip(k, net.shapes[t]))
        s = k if rng.random() < 0.7 else tuple(once)  # any stride that leaves one output
        t = net.mean(t, k, s) if rng.random() < 0.3 else net.pool(t, L.AVGPOOL, k, s)
    net.head = len(net.ops)
    net.dense(t, rng.choice((1, 2, 5, 10)), logits=rng.random() < 0.5)
    return net.finish(first=net.tail, pin_outputs=kept)


def image_net(content):
    """A 28x28 classifier of depthwise-separable blocks with a residual, as users have."""
    net = Network(content, (28, 28, 1))
    t = net.conv(0, 8, (3, 3), (2, 2), (0, 1, 0, 1))
    for channels, stride in ((16, 2), (32, 1), (32, 2)):
        t = net.dwconv(t, 1, (3, 3), (stride, stride), (1, 1, 1, 1))
        t = net.conv(t, channels, (1, 1))
    t = net.add(net.conv(t, 32, (3, 3), (1, 1), (1, 1, 1, 1)), t)
    net.tail = len(net.ops)
    t = net.conv(t, 40, (1, 1))
    t = net.pool(t, L.AVGPOOL, (4, 4), (4, 4))
    net.head = len(net.ops)
    net.dense(t, 10, logits=True)
    net.first = 4
    return net.finish(trainable=2, first=net.first, pin_outputs=(net.tail - 1, net.tail))
