"""Seeded generators of cases: calls that must succeed, and their networks."""

import random
import struct
import zlib

import netgen
from caseformat import BYTEARRAY, GUARDED, READ_ONLY, Buf, Case

from microzo.net import arena as planner
from microzo.net import words as L
from microzo_host.reference import ops, record

INT32_MAX = (1 << 31) - 1


def ints(values, kind=GUARDED, **more):
    values = list(values)
    return Buf(struct.pack(f"<{len(values)}i", *values), kind, **more)


def longs(values):
    values = list(values)
    return Buf(struct.pack(f"<{len(values)}q", *values))


def readable(rng, data):
    """A buffer for reading, in one of the shapes a user has."""
    return Buf(bytes(data), rng.choice((GUARDED, GUARDED, READ_ONLY, BYTEARRAY)))


def garbage(rng, length):
    return rng.randbytes(length)


class NetCases:
    """Cases around one network; every method returns one case."""

    def __init__(self, rng, net):
        self.rng, self.net, self.plan = rng, net, net.plan
        self.n = len(net.ops)

    def plan_buf(self):
        return Buf(self.plan.tobytes(), self.rng.choice((GUARDED, "i", READ_ONLY)))

    def net_args(self, compared=L.SCRATCH_OFF):
        """plan, blob, state, arena (compared up to the offset in word `compared`)."""
        region = 0, self.plan[compared]
        state = Buf(self.net.state(), self.rng.choice((GUARDED, BYTEARRAY)))
        arena = Buf(bytes(self.net.arena()), self.rng.choice((GUARDED, BYTEARRAY, "b")), region)
        return [self.plan_buf(), readable(self.rng, self.net.blob), state, arena]

    def pick(self, test):
        """Index of a random operator with test(index, base), or None."""
        found = [i for i in range(self.n) if test(L.op_base(i))]
        return self.rng.choice(found) if found else None

    def pick_weighted(self, *words):
        """A random operator with weights whose state offsets `words` are there."""
        plan = self.plan
        return self.pick(
            lambda o: planner.is_weighted(plan, o) and all(plan[o + w] >= 0 for w in words)
        )

    def input(self):
        plan = self.plan
        count = plan[L.NET_IN_H] * plan[L.NET_IN_W] * plan[L.NET_IN_C]
        sample = garbage(self.rng, count + self.rng.choice((0, 0, 5)))
        args = self.net_args()
        return Case("input", [args[0], args[1], args[3], readable(self.rng, sample)])

    def forward(self):
        first = self.rng.randrange(self.n)
        last = self.rng.choice((self.n, self.n, self.rng.randint(first + 1, self.n)))
        if self.rng.random() < 0.6:
            first = 0
        args = self.net_args()
        return Case("forward", [*args, first, last, self.rng.randint(0, 1)])

    def loss(self):
        plan, rng = self.plan, self.rng
        arena = self.net.arena()
        classes = plan[L.CLASSES]
        struct.pack_into(f"<{classes}i", arena, plan[L.LOGITS_OFF], *logits(rng, classes))
        err = Buf(
            garbage(rng, 4 * classes) if rng.random() < 0.7 else b"",
            rng.choice((GUARDED, BYTEARRAY, "i")),
        )
        return Case("loss", [self.plan_buf(), Buf(bytes(arena)), rng.randrange(classes), err])

    def probe(self):
        rng, net = self.rng, self.net
        lo = rng.choice((0, net.first, rng.randint(0, self.n)))
        hi = rng.choice((self.n, rng.randint(lo, self.n)))
        mode = rng.randint(0, 7)
        params = (net.first, seed(rng), rng.randrange(self.plan[L.CLASSES]), mode,
        rng.randint(0, 7), lo, hi,
                  rng.choice((0, 0, 1, 2, 5, 8, 31)))  # fmt: skip
        args = self.net_args(L.PIN_LEN)
        out = self.losses_and_products(args, mode & 1) if mode & 4 else ints((-1, -1))
        return Case("probe", [*args, ints(params, rng.choice((GUARDED, "i"))), out])

    def losses_and_products(self, args, wide):
        """What a probe that keeps products writes to: none are there, or the right ones."""
        o = L.op_base(self.net.first)
        kept = [self.rng.randint(-INT32_MAX, INT32_MAX) for _ in range(L.KEPT + 5)]
        kind, channels = self.plan[o + L.KIND], self.plan[o + L.OUT_C]
        there = kind == L.DENSE and channels <= L.KEPT and self.rng.random() < 0.6
        if there:
            kept[:channels] = products(args, self.net.first, wide)
        return ints((-1, -1, there, *kept), self.rng.choice((GUARDED, "i")), region=(0, 8))

    def update(self):
        rng = self.rng
        lo = rng.randint(0, self.n)
        n = rng.choice((0, 1, 1, 2, 3, 4, 8, 64))
        coefs = [
            rng.choice((0, 1, -1, 1 << 20, -(1 << 20), rng.randint(-5000, 5000))) for _ in range(n)
        ]
        pairs = [v for c in coefs for v in (seed(rng), c)]
        params = (
            rng.choice((0, lo)),
            self.n,
            rng.randint(0, 7),
            n,
            rng.choice((0, 1, 4, 8, 12, 20, 31)),
        )
        return Case(
            "update", [*self.net_args(), ints(params), ints(pairs, rng.choice((GUARDED, "i")))]
        )

    def init_state(self):
        args = self.net_args()
        return Case("init_state", args[:3])

    def stats(self):
        i = self.pick_weighted()
        if i is None:
            return None
        o = L.op_base(i)
        positions = self.plan[o + L.OUT_H] * self.plan[o + L.OUT_W]
        bits = planner.accumulator_bound(self.plan, o).bit_length()
        least = max(0, (2 * bits + positions.bit_length() - 61 + 1) // 2)
        sums = struct.pack("<%dq" % (2 * self.plan[o + L.OUT_C]), *(
            self.rng.randint(-(1 << 40),
            1 << 40) for _ in range(2 * self.plan[o + L.OUT_C])))  # fmt: skip
        s = self.rng.choice((least, least + 1, self.rng.randint(least, 31), 31))
        return Case("stats", [*self.net_args(), i, s, Buf(sums, self.rng.choice((GUARDED, "q")))])

    def realign(self):
        rng = self.rng
        i = self.pick_weighted(L.BIAS_OFF, L.MS_OFF, L.STAT_OFF)
        if i is None:
            return None
        channels = self.plan[L.op_base(i) + L.OUT_C]
        mean = [
            rng.choice((0, -INT32_MAX - 1, INT32_MAX, rng.randint(-100000, 100000)))
            for _ in range(channels)
        ]
        sd = [
            rng.choice((0, -5, 1, INT32_MAX, rng.randrange(1 << 20), rng.randrange(1 << 31)))
            for _ in range(channels)
        ]
        args = self.net_args()
        out = Buf(garbage(rng, 12 * channels))
        alpha = rng.choice((0, 256, 256, rng.randint(0, 256)))
        return Case(
            "realign",
            [args[0], args[1], readable(rng, args[2].data), i, ints(mean + sd), alpha, out],
        )

    def assign(self):
        rng = self.rng
        i = self.pick_weighted(L.BIAS_OFF, L.MS_OFF)
        if i is None:
            return None
        o = L.op_base(i)
        channels, b_max = self.plan[o + L.OUT_C], self.plan[o + L.B_MAX]
        values = [rng.choice((-b_max, b_max, rng.randint(-b_max, b_max))) for _ in range(channels)]
        values += [
            rng.choice((0, 1 << 30, INT32_MAX, rng.randint(1 << 30, INT32_MAX)))
            for _ in range(channels)
        ]
        values += [rng.choice((-31, 30, rng.randint(-31, 30))) for _ in range(channels)]
        return Case("assign", [self.plan_buf(), Buf(self.net.state()), i, ints(values)])

    def head_grad(self):
        i = self.pick(lambda o: self.plan[o + L.KIND] == L.DENSE)
        if i is None:
            return None
        o = L.op_base(i)
        channels, k = self.plan[o + L.OUT_C], self.plan[o + L.IN_C]
        args = self.net_args()
        return Case(
            "head_grad",
            [*args, i, error(self.rng, channels), gradient(self.rng, channels * (k + 1))],
        )

    def apply_grad(self):
        rng = self.rng
        i = self.pick_weighted(
            *rng.choice(((L.MASTER_OFF,), (L.BIAS_OFF,), (L.MASTER_OFF, L.BIAS_OFF)))
        )
        if i is None:
            return None
        o = L.op_base(i)
        count = self.plan[o + L.OUT_C] * (planner.row_len(self.plan, o) + 1)
        shift = rng.choice((0, 1, 3, 4, 5, 10, 16, 31))
        decay = rng.choice((0, 0, 1, 3, 31))
        return Case(
            "apply_grad",
            [self.plan_buf(), Buf(self.net.state()), i, shift, decay, gradient(rng, count)],
        )

    def node(self):
        rng, plan = self.rng, self.plan
        i = self.pick(lambda o: o < L.op_base(self.n - 1))
        if i is None:
            return None
        n = planner.out_size(plan, L.op_base(i))
        mode = rng.randint(0, 3)
        params = (
            i, seed(rng), rng.randrange(plan[L.CLASSES]), mode | rng.choice((0, 4)),
            rng.choice((1, 5, 16, 127, rng.randint(-127 if mode == 2 else 1, 127))),
            rng.choice((0, 256, rng.randint(0, 256))), rng.choice((0, 8, 9, 31)),
            rng.choice((0, 512, 32767, rng.randint(-32767 if mode == 3 else 0, 32767))),
        )  # fmt: skip
        args = self.net_args(L.PIN_LEN)
        y = Buf(bytes(n if mode < 2 else 0))
        return Case("node", [*args, ints(params), y, gradient(rng, n), ints((-1, -1))])

    def node_grad(self):
        rng, plan = self.rng, self.plan
        i = self.pick_weighted()
        if i is None:
            return None
        o = L.op_base(i)
        n = planner.out_size(plan, o)
        grad = gradient(rng, plan[o + L.OUT_C] * (planner.row_len(plan, o) + 1))
        sums = ints(
            (rng.choice((0, 0, rng.randint(-5000, 5000), 1 << 30, -(1 << 30))) for _ in range(n)),
        )
        args = self.net_args()
        shift = rng.choice((0, 1, 3, 16, 31))
        return Case("node_grad", [args[0], args[3], i, shift, sums, grad])

    def patch_sums(self):
        rng, o = self.rng, L.op_base(0)
        k = planner.row_len(self.plan, o)
        fits = self.plan[o + L.K_H] <= self.plan[o + L.IN_H]
        fits = fits and self.plan[o + L.K_W] <= self.plan[o + L.IN_W]
        if self.plan[o + L.KIND] != L.CONV or not fits or k > 255:
            return None
        args = self.net_args()
        top = rng.choice((1000, INT32_MAX))
        sums = ints(rng.randint(-top, top) for _ in range(k))
        products = ints(rng.randint(-top, top) for _ in range(k * (k + 1) // 2))
        where = seed(rng), rng.choice((0, 1, (1 << 28) - 1, rng.randrange(1 << 28)))
        return Case(
            "patch_sums", [args[0], args[3], *where, rng.choice((0, 1, 2, 9)), sums, products]
        )

    def pick_colored(self, *words):
        plan = self.plan
        return self.pick(
            lambda o: (
                plan[o + L.KIND] == L.CONV
                and plan[o + L.OUT_C] <= 64
                and all(plan[o + w] >= 0 for w in words)
            )
        )

    def color_sums(self):
        rng, i = self.rng, self.pick_colored()
        if i is None:
            return None
        c = self.plan[L.op_base(i) + L.OUT_C]
        top = rng.choice((1000, (1 << 63) - 1))
        sums, products = (
            longs(rng.randint(-top, top) for _ in range(n)) for n in (c, c * (c + 1) // 2)
        )
        sample = rng.choice((0, 1, (1 << 28) - 1, rng.randrange(1 << 28)))
        params = i, seed(rng), sample, rng.choice((0, 1, 2, 9)), rng.choice((0, 0, 3, 9, 31))
        args = [*self.net_args(L.ARENA_LEN), ints(params, rng.choice((GUARDED, "i")))]
        return Case("color_sums", [*args, sums, products])

    def color_map(self):
        rng, plan = self.rng, self.plan
        i = self.pick_colored(L.STAT_OFF)
        if i is None:
            return None
        o = L.op_base(i)
        c = plan[o + L.OUT_C]
        if plan[o + L.STAT_OFF] + 8 * c + c * (c + 1) > len(self.net.blob):
            return None
        n = rng.choice((1, 2, 50, 1000, 1 << 20))
        sums, products = _moments(rng, c, n)
        params = i, n, rng.choice((1, 26, 26, 128, 256))
        room = Buf(garbage(rng, 12 * c * c), GUARDED, region=(0, 0))
        return Case(
            "color_map",
            [
                self.plan_buf(), readable(rng, self.net.blob), ints(params), longs(sums),
                longs(products), room, Buf(garbage(rng, 2 * c * c)),
            ],
        )  # fmt: skip

    def color_mix(self):
        rng, i = self.rng, self.pick_colored(L.MASTER_OFF)
        if i is None:
            return None
        c = self.plan[L.op_base(i) + L.OUT_C]
        top = rng.choice((3, 32767))
        mapping = struct.pack(f"<{c * c}h", *(rng.randint(-top - 1, top) for _ in range(c * c)))
        return Case("color_mix", [self.plan_buf(), Buf(self.net.state()), i, Buf(mapping)])

    def export_weights(self):
        i = self.pick_weighted(L.MASTER_OFF)
        if i is None:
            return None
        o = L.op_base(i)
        out = Buf(
            garbage(self.rng, self.plan[o + L.OUT_C] * planner.row_len(self.plan, o)),
            self.rng.choice((GUARDED, "b")),
        )
        return Case(
            "export_weights", [self.plan_buf(), readable(self.rng, self.net.state()), i, out]
        )

    def tail_grad(self):
        """Of a network made by netgen.tail_net."""
        net, plan = self.net, self.plan
        o = L.op_base(net.tail)
        count = plan[o + L.OUT_C] * (planner.row_len(plan, o) + 1)
        err = error(self.rng, plan[L.CLASSES])
        return Case(
            "tail_grad", [*self.net_args(), net.tail, net.head, err, gradient(self.rng, count)]
        )


NET_FUNCTIONS = (
    "input", "forward", "forward", "forward", "loss", "probe", "probe", "update", "init_state",
    "stats", "realign",
    "assign", "patch_sums", "color_sums", "color_map", "color_mix", "head_grad",
    "node", "node_grad", "apply_grad", "export_weights",
)  # fmt: skip


def products(args, op, wide):
    """The sums of weights and inputs of a dense operator, unperturbed, from plan, blob, state,
    arena."""
    net = record.Net(*(bytearray(arg.data) for arg in args[:4]))
    o = net.op(op)
    weights = ops.Reading(bool(wide)).parameters(net, o)[0]
    return ops.accumulate(o, net.input(o), weights, 0)[0].tolist()


def _moments(rng, c, n):
    """Sums and products of n values of c channels; sometimes of no such values."""
    if rng.random() < 0.2:
        top = n << 20
        return [rng.randint(-top, top - 1) for _ in range(c)], [
            rng.randint(-top << 20, top << 20) for _ in range(c * (c + 1) // 2)
        ]
    top = rng.choice((3, 1000, 1 << 19))
    common = rng.choice((0, 0, top))
    drawn = []
    for _ in range(min(n, 40)):
        shared = rng.randint(-common, common)
        drawn.append([shared + rng.randint(-top, top) for _ in range(c)])
    drawn = [[0 if i % 7 == 3 else v for i, v in enumerate(row)] for row in drawn]
    sums = [sum(row[i] for row in drawn) for i in range(c)]
    products = [sum(row[i] * row[j] for row in drawn) for i in range(c) for j in range(i + 1)]
    return sums, products


def seed(rng):
    return rng.choice((0, 1, (1 << 30) - 1, rng.randrange(1 << 30), rng.randrange(1 << 30)))


def logits(rng, classes):
    """Q12 logits: equal, huge, close together."""
    top = rng.choice((0, 1, 100, 4096, 40000, 1 << 20))
    style = rng.choice(("spread", "ends", "equal"))
    if style == "equal":
        return [rng.choice((0, top, -top))] * classes
    return [
        rng.choice((-top, top)) if style == "ends" else rng.randint(-top, top)
        for _ in range(classes)
    ]


def error(rng, classes):
    return ints(rng.choice((-32768, 32768, 0, rng.randint(-32768, 32768))) for _ in range(classes))


def gradient(rng, count):
    """int32 within +-2^30, often at the ends."""
    top = 1 << 30
    style = rng.choice(("zero", "ends", "any"))
    values = (
        (0,)
        if style == "zero"
        else (-top, top, rng.randint(-top, top))
        if style == "ends"
        else None
    )
    return ints(
        (rng.choice(values) if values else rng.randint(-top, top) for _ in range(count)),
        rng.choice((GUARDED, "i")),
    )


def net_cases(rng, net, functions=NET_FUNCTIONS):
    """The cases of one network, without those it cannot serve."""
    maker = NetCases(rng, net)
    return [case for case in (getattr(maker, name)() for name in functions) if case]


def tail_cases(rng, net):
    return net_cases(rng, net, ("tail_grad", "tail_grad", "head_grad", "probe"))


def wide_loss_case(rng, classes):
    """loss for any number of classes, without a whole network."""
    net = netgen.Network(rng, (1, 1, 1))
    net.dense(0, classes, logits=rng.random() < 0.5)
    net.first = 0
    return NetCases(rng, net.finish(trainable=0)).loss()


def plain_cases(rng):
    """The functions that need no network."""
    top = 1 << 30
    n, s = (
        rng.choice((1, 2, 3, rng.randint(1, 1000), rng.randint(1, 1 << 20))),
        rng.choice((0, 0, 1, 4, 12, 31)),
    )
    reach = rng.choice((0, 10, 5000, (top - 1) >> s))
    s1, s2 = [], []
    for _ in range(rng.randint(1, 4)):
        q, width = rng.randint(-reach, reach), rng.choice((0, 3, 1 << 20, 1 << 28))
        s1.append(q * n + rng.randrange(n))
        s2.append(
            min(n * q * q + n * rng.randint(0, width * width) + rng.randrange(n), (1 << 62) - 1)
        )
    sums = struct.pack(f"<{2 * len(s1)}q", *s1, *s2)
    yield Case("stats_finish", [n, s, readable(rng, sums), Buf(bytes(8 * len(s1)))])

    k = rng.choice((1, 2, 31, 32, 33, 64, rng.randint(1, 200)))
    row, stream = (
        rng.choice((0, 1, rng.randrange(1 << 20), INT32_MAX)),
        rng.choice((0, 1, 5, rng.randrange(1 << 31))),
    )
    yield Case(
        "signs", [seed(rng), stream, row, k, Buf(bytes(k), rng.choice((GUARDED, "b", BYTEARRAY)))]
    )
    a, b = (rng.choice((0, 1, (1 << 28) - 1, rng.randrange(1 << 28))) for _ in range(2))
    yield Case("derive", [seed(rng), a, b])
    count = rng.choice((0, 1, 2, 3, rng.randint(4, 300)))
    order = struct.pack(f"<{count}H", *(rng.randrange(65536) for _ in range(count)))
    yield Case("shuffle", [seed(rng), Buf(order, rng.choice((GUARDED, "H")))])

    data = garbage(rng, rng.randint(4, 120))
    start, end = sorted((rng.randint(0, len(data)), rng.randint(0, len(data))))
    yield Case("crc32", [readable(rng, data), start, end])
    n = rng.randint(0, len(data) - 4)
    sealed = bytearray(data)
    sealed[n : n + 4] = zlib.crc32(data[:n]).to_bytes(4, "little")
    yield Case("seal", [Buf(data), n])
    yield Case("check_seal", [readable(rng, data), n])
    yield Case("check_seal", [readable(rng, sealed), n])

    mult = rng.choice((0, top, INT32_MAX, rng.randint(top, INT32_MAX)))
    acc = [rng.choice((0, 1, -1, INT32_MAX, -INT32_MAX - 1, rng.randint(-5000, 5000),
    rng.randint(-top, top)))
           for _ in range(rng.randint(0, 12))]  # fmt: skip
    yield Case("requant", [ints(acc), mult, rng.randint(-31, 30), ints([7] * len(acc))])
    yield Case("version", [])


def good_cases(seed, i):
    """Round i: unjudged cases of two random networks and of the functions without one."""
    rng = random.Random(seed * 1000003 + i)
    yield from net_cases(rng, netgen.random_net(rng))
    yield from tail_cases(rng, netgen.tail_net(rng))
    yield from plain_cases(rng)


def image_cases(seed):
    """Every call on a network of the usual size."""
    rng = random.Random(seed)
    net = netgen.image_net(rng)
    functions = (*NET_FUNCTIONS, "tail_grad", "probe", "probe", "update", "stats", "realign")
    return net_cases(rng, net, functions)


def loss_cases(seed):
    """The loss of 1 to 1024 classes."""
    for classes in (1, 2, 3, 100, 1023, 1024):
        for j in range(4):
            yield wide_loss_case(random.Random(seed * 1009 + 7 * classes + j), classes)
