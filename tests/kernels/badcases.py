"""Calls that must raise: every argument of every function spoilt in every way the API can notice.

`bad_cases(seed)` yields (case, strict): strict cases need what Python code cannot see (addresses,
item sizes), so the pure-Python kernels are not held to them.
"""

import random
import struct

import casegen
import netgen
from caseformat import MISALIGNED, READ_ONLY, TYPE_ERROR, VALUE_ERROR, Alias, Buf, Case

from microzo.net import words as L

# bad values of integer arguments, by function and position
BAD_INTS = {
    ("forward", 4): (-1, 5, 255, 256), ("forward", 5): (0, -1, 6), ("forward", 6): (-1, 2, 3),
    ("loss", 2): (-1, 10, 1024),
    ("stats", 4): (-1, 5, 255, 2), ("stats", 5): (-1, 32),
    ("stats_finish", 0): (0, -1), ("stats_finish", 1): (-1, 32),
    ("realign", 3): (-1, 5, 2), ("realign", 5): (-1, 257),
    ("assign", 2): (-1, 5, 2),
    ("patch_sums", 2): (-1, 1 << 30), ("patch_sums", 3): (-1, 1 << 28),
    ("patch_sums", 4): (-1, 1 << 16),
    ("color_mix", 2): (-1, 5, 2, 4),
    ("head_grad", 4): (-1, 5, 0, 1),
    ("tail_grad", 4): (-1, 5, 0, 1, 2, 4), ("tail_grad", 5): (-1, 5, 0, 1, 2, 3),
    ("node_grad", 2): (-1, 5, 2), ("node_grad", 3): (-1, 32),
    ("apply_grad", 2): (-1, 5, 2), ("apply_grad", 3): (-1, 32), ("apply_grad", 4): (-1, 32),
    ("export_weights", 2): (-1, 5, 2),
    ("signs", 0): (-1, 1 << 30), ("signs", 1): (-1,), ("signs", 2): (-1,),
    ("signs", 3): (0, -1, 41, 1 << 20),
    ("derive", 0): (-1, 1 << 30), ("derive", 1): (-1, 1 << 28), ("derive", 2): (-1, 1 << 28),
    ("shuffle", 0): (-1, 1 << 30),
    ("crc32", 1): (-1, 21, 41), ("crc32", 2): (-1, 9, 41, 1 << 30),
    ("seal", 1): (-1, 37, 1 << 30), ("check_seal", 1): (-1, 37, 1 << 30),
    ("requant", 1): (-1, 1, (1 << 30) - 1), ("requant", 2): (-32, 31),
}  # fmt: skip
NO_INT = (None, 1.5, 1 << 31, -(1 << 31), 1 << 40, -(1 << 62))

# bad values of words in `params`: position in params -> values
BAD_PARAMS = {
    "probe": {
        0: (-1, 5, 255),
        1: (-1, 1 << 30),
        2: (-1, 10),
        3: (-1, 4, 7, 8),  # 4 and more: the losses have no room for products
        4: (-1, 8),
        5: (-1, 6),
        6: (-1, 6),
        7: (-1, 32),
    },
    "node": {
        0: (-1, 2, 4, 5),
        1: (-1, 1 << 30),
        2: (-1, 10),
        3: (-1, 8),
        4: (0, 128, -128),
        5: (-1, 257),
        6: (-1, 32),
        7: (-1, 32768),
    },
    "color_sums": {
        0: (-1, 2, 4, 5),
        1: (-1, 1 << 30),
        2: (-1, 1 << 28),
        3: (-1, 1 << 16),
        4: (-1, 32),
    },
    "color_map": {0: (-1, 2, 4, 5), 1: (0, -1, (1 << 20) + 1), 2: (0, -1, 257)},
    "update": {0: (-1, 6), 1: (-1, 6), 2: (-1, 8), 3: (-1, 65, 3), 4: (-1, 32)},
}
BAD_PAIRS = (
    (0, -1),
    (0, 1 << 30),
    (2, 1 << 30),
    (1, (1 << 20) + 1),
    (3, -(1 << 20) - 1),
    (1, -(1 << 31)),
)

# spoilt words of the plan; an operator word: (operator, word, values)
BAD_HEADER = (
    (L.MAGIC, (0, -1)), (L.MAJOR, (0, 2)), (L.N_OPS, (0, -1, 256, 6)),
    (L.CLASSES, (0, -1, 1025, 9)),
    (L.LOGITS_OFF, (-4, 2, 1 << 30)), (L.SCRATCH_OFF, (-4, 2, 1 << 30)),
    (L.SCRATCH_LEN, (0, -1, 127)),
)  # fmt: skip
BIG = (-1, 0x7FFFFFFC, -(1 << 31))
SHAPE = (0, -1, 65536, 0x7FFFFFFF)
BAD_OP = (
    *((i, L.KIND, (0, -1, 12)) for i in range(5)),
    *((i, L.FLAGS, (4, 8, 16, -1)) for i in (0, 1, 3, 4)), (2, L.FLAGS, (1, 2, 16, -1)),
    *((i, w, (*SHAPE, 4097)) for i in range(5) for w in (L.IN_H, L.IN_C, L.OUT_W, L.OUT_C)),
    *((i, w, (0, -1, 256, 65536)) for i in range(5) for w in (L.K_H, L.K_W, L.S_H, L.S_W)),
    *((i, w, (-1, 256, 65536, -0x7FFFFFFF)) for i in range(5) for w in (L.P_T, L.P_B)),
    *((i, w, (-1, 256, 65536, -0x7FFFFFFF)) for i in range(5) for w in (L.P_L, L.P_R)),
    *((i, w, (-129, 128, 1 << 20)) for i in range(5) for w in (L.IN_ZP, L.IN2_ZP, L.OUT_ZP,
    L.ACT_MIN, L.ACT_MAX)),
    *((i, w, BIG) for i in range(5) for w in (L.IN_OFF, L.OUT_OFF)),
    *((1, w, BIG) for w in (L.W_OFF, L.B_OFF, L.M_OFF, L.S_OFF)),
    *((4, w, BIG) for w in (L.L_OFF, L.LS_OFF)),
    *((i, w, (0x7FFFFFFC, 1)) for i in (0, 3, 4) for w in (L.MASTER_OFF, L.BIAS_OFF, L.MS_OFF)),
    *((1, w, (2, 5)) for w in (L.B_OFF, L.M_OFF)),
    *((i, L.F, (-1, 9)) for i in (0, 1)), *((i, L.B_MAX, (-1, 1 << 30)) for i in (0, 1)),
    *((i, w, (-1, 128)) for i in (0, 1) for w in (L.EPS_W, L.EPS_B)), (0, L.TID, (-1, 1 << 20)),
    (2, L.IN2_OFF, BIG), (2, L.MULT1, (-1, 1, (1 << 30) - 1)), (2, L.SHIFT2, (-32, 1)),
    (2, L.SHIFT, (-32, 31)),
    *((i, w, (-1, 7, 65536)) for i in (0, 1, 3) for w in (L.DIL_H, L.DIL_W)),
    *((i, L.ABS_SUM, (-1, 1, 1 << 30)) for i in (0, 1, 3, 4)),
    (2, L.P_L, (1,)), (2, L.K_H, (2,)), (4, L.S_W, (2,)), (4, L.P_B, (1,)),
)  # fmt: skip


def network(rng):
    """conv, depthwise, add, conv + head: every kind of check has an operator. Operator 1 is
    frozen, the rest trains.
    """
    net = netgen.Network(rng, (6, 6, 2))
    net.conv(0, 2, (3, 3), (1, 1), (1, 1, 1, 1))
    net.dwconv(1, 1, (3, 3), (1, 1), (1, 1, 1, 1))
    net.add(1, 2)
    net.conv(3, 3, (2, 2), (2, 2))
    net.dense(4, 10, logits=True)
    net.first = 0
    net.tail, net.head = 3, 4
    for op in net.ops:
        if op["KIND"] <= L.DENSE:
            op.update(EPS_W=2, EPS_B=4, F=2, B_MAX=30000)
    net.finish(trainable=2, pin_outputs=(2, 3))
    return net


def freeze(net, index):
    for word in (L.MASTER_OFF, L.BIAS_OFF, L.MS_OFF):
        net.plan[L.op_base(index) + word] = -1


def base_cases(rng):
    """One good call of every function: operator 3 or 4, 10 classes, 40 bytes."""
    net = network(rng)
    freeze(net, 1)
    plan = Buf(net.plan.tobytes())
    blob, state, arena = Buf(bytes(net.blob)), Buf(bytes(net.state())), Buf(bytes(net.arena()))
    nets = [plan, blob, state, arena]
    channels, k, conv_k = 10, 27, 8
    err = casegen.error(rng, channels)
    params = casegen.ints((0, 5, 3, 1, 3, 0, 5, 1))
    pairs = casegen.ints((7, 100, 8, -5))
    vals = casegen.ints([0] * 3 + [1 << 30] * 3 + [-4] * 3)
    sums = Buf(struct.pack("<6q", 1, 2, 3, 400, 500, 600))
    yield Case("input", [plan, blob, arena, Buf(rng.randbytes(72))])
    yield Case("forward", [*nets, 0, 5, 1])
    yield Case("loss", [plan, Buf(arena.data), 3, Buf(bytes(4 * channels))])
    yield Case("probe", [*nets, params, casegen.ints((0, 0))])
    yield Case("update", [*nets, casegen.ints((0, 5, 3, 2, 4)), pairs])
    yield Case("init_state", [plan, blob, state])
    yield Case("stats", [*nets, 3, 10, sums])
    yield Case("stats_finish", [100, 2, sums, Buf(bytes(24))])
    yield Case(
        "realign",
        [plan, blob, state, 3, casegen.ints((5, 6, 7, 100, 200, 300)), 256, Buf(bytes(36))],
    )
    yield Case("assign", [plan, state, 3, vals])
    yield Case("patch_sums", [plan, arena, 5, 6, 7, Buf(bytes(4 * 18)), Buf(bytes(4 * 171))])
    color = Buf(struct.pack("<3q", 9, -18, 0)), Buf(struct.pack("<6q", 90, 9, 180, 0, 8, 70))
    yield Case("color_sums", [*nets, casegen.ints((3, 5, 6, 2, 4)), *color])
    room = Buf(bytes(108)), Buf(bytes(18))
    yield Case("color_map", [plan, blob, casegen.ints((3, 9, 26)), *color, *room])
    yield Case("color_mix", [plan, state, 3, Buf(struct.pack("<9h", *range(-4, 5)))])
    yield Case("head_grad", [*nets, 4, err, Buf(bytes(4 * channels * (k + 1)))])
    yield Case("tail_grad", [*nets, 3, 4, err, Buf(bytes(4 * 3 * (conv_k + 1)))])
    nodes = casegen.ints((3, 5, 3, 1, 16, 256, 9, 512))
    yield Case("node", [*nets, nodes, Buf(bytes(27)), Buf(bytes(108)), casegen.ints((0, 0))])
    yield Case("node_grad", [plan, arena, 3, 2, Buf(bytes(108)), Buf(bytes(4 * 3 * (conv_k + 1)))])
    yield Case("apply_grad", [plan, state, 3, 5, 3, Buf(bytes(4 * 3 * (conv_k + 1)))])
    yield Case("export_weights", [plan, state, 4, Buf(bytes(channels * k))])
    yield Case("signs", [5, 6, 7, 40, Buf(bytes(40))])
    yield Case("derive", [1, 2, 3])
    yield Case("shuffle", [4, Buf(bytes(range(40)))])
    yield Case("crc32", [Buf(bytes(40)), 10, 20])
    yield Case("seal", [Buf(bytes(40)), 20])
    yield Case("check_seal", [Buf(bytes(40)), 20])
    yield Case("requant", [casegen.ints((1, 2, 3)), 1 << 30, 0, casegen.ints((0, 0, 0))])


OUTPUTS = {
    "input": (2,), "forward": (2, 3), "loss": (3,), "probe": (2, 3, 5), "update": (2, 3),
    "init_state": (2,),
    "stats": (2, 3, 6), "stats_finish": (3,), "realign": (6,), "assign": (1,),
    "patch_sums": (1, 5, 6), "color_sums": (5, 6), "color_map": (5, 6), "color_mix": (1,),
    "head_grad": (2, 3, 6),
    "node": (2, 3, 5, 6, 7), "node_grad": (1, 4, 5),
    "tail_grad": (2, 3, 7), "apply_grad": (1, 5), "export_weights": (3,), "signs": (4,),
    "shuffle": (1,), "seal": (0,),
    "requant": (3,),
}  # fmt: skip
# buffers that a shorter one does not spoil in these calls
UNUSED = {
    ("update", 1),
    ("update", 3),
    ("stats", 1),
    ("color_sums", 1),
    ("head_grad", 1),
    ("head_grad", 2),
    ("tail_grad", 1),
}
# whole buffers, whose length the call takes as it is: how far to cut until it is odd
ODD = {("stats_finish", 2): 8, ("shuffle", 1): 1, ("requant", 0): 2}
# int32, int64 and uint16 buffers by function, which must be aligned
ALIGNED = {
    "input": (0,), "forward": (0, 2, 3), "loss": (0, 1, 3), "probe": (0, 4, 5),
    "update": (0, 2, 4, 5), "stats": (6,),
    "stats_finish": (2, 3), "realign": (1, 4, 6), "assign": (1, 3), "head_grad": (5, 6),
    "patch_sums": (0, 1, 5, 6), "tail_grad": (6, 7), "node": (0, 4, 6, 7),
    "node_grad": (0, 1, 4, 5),
    "color_sums": (4, 5, 6), "color_map": (2, 3, 4, 5, 6), "color_mix": (1, 3),
    "apply_grad": (1, 5), "export_weights": (0, 1), "shuffle": (1,), "requant": (0, 3),
    "init_state": (0, 1, 2),
}  # fmt: skip


def spoil_buffer(case, i, buf):
    for value in (None, 1.5, 7):
        yield case.replaced(i, value), False
    name, data = case.function, buf.data
    if i in OUTPUTS.get(name, ()):
        yield case.replaced(i, Buf(data, READ_ONLY)), False
        for j in range(i):
            if isinstance(case.args[j], Buf) and len(case.args[j].data) >= len(data):
                yield case.replaced(i, Alias(j)), True
    if i in ALIGNED.get(name, ()):
        yield case.replaced(i, Buf(data, MISALIGNED)), True
    if (name, i) in ODD:
        yield case.replaced(i, Buf(data[: -ODD[name, i]])), False
        return
    if (name, i) in UNUSED or name in ("crc32", "seal", "check_seal"):
        return
    yield case.replaced(i, Buf(b"" if (name, i) != ("loss", 3) else data[:4])), False
    if i > 3 or (name, i) in (
        ("loss", 3),
        ("input", 3),
        ("assign", 3),
        ("export_weights", 3),
        ("stats_finish", 3),
    ):
        yield case.replaced(i, Buf(data[:-1])), False
    if i == 0 and name not in ("signs", "requant"):
        for cut in (4, 100, 127, 128, 4 * L.op_base(5) - 4):
            yield case.replaced(i, Buf(data[:cut])), False


def wrong_items(case, i, buf):
    """The buffer as items of another size, where its content allows."""
    sizes = {"b": 1, "h": 2, "i": 4, "q": 8}
    right = {
        "shuffle": "h",
        "stats_finish": "q" if i == 2 else "i",
        "signs": "b",
        "export_weights": "b",
    }.get(case.function, "i")
    for kind, size in sizes.items():
        if kind not in ("b", right) and len(buf.data) % size == 0:
            yield case.replaced(i, Buf(buf.data, kind)), True


def spoil(case):
    for i, arg in enumerate(case.args):
        if isinstance(arg, Buf):
            yield from spoil_buffer(case, i, arg)
        else:
            for value in (*NO_INT, *BAD_INTS[case.function, i]):
                yield case.replaced(i, value), False
    if case.function in (
        "probe",
        "update",
        "stats_finish",
        "realign",
        "shuffle",
        "signs",
        "requant",
    ):
        last = len(case.args) - 1
        yield from wrong_items(case, last, case.args[last])
    yield Case(case.function, case.args[:-1]), False
    yield Case(case.function, [*case.args, 0]), False


def put(buf, index, value):
    """A copy of an int32 buffer with one value changed."""
    data = bytearray(buf.data)
    struct.pack_into("<i", data, 4 * index, value)
    return Buf(bytes(data))


def spoilt_words(cases):
    for name, words in BAD_PARAMS.items():
        for word, values in words.items():
            for value in values:
                at = 2 if name == "color_map" else 4
                yield cases[name].replaced(at, put(cases[name].args[at], word, value))
    for word, value in BAD_PAIRS:
        yield cases["update"].replaced(5, put(cases["update"].args[5], word, value))
    for at, word in ((3, 0), (4, 0)):  # a mean and a product beyond those of nine values
        large = bytearray(cases["color_map"].args[at].data)
        struct.pack_into("<q", large, 8 * word, (9 << 40) + 1)
        yield cases["color_map"].replaced(at, Buf(bytes(large)))
    for word, value in ((0, 30001), (2, -30001), (3, 1), (5, -1), (6, 31), (8, -32)):
        yield cases["assign"].replaced(3, put(cases["assign"].args[3], word, value))
    for name in ("forward", "probe"):
        plan = cases[name].args[0]
        for word, values in BAD_HEADER:
            for value in values:
                yield cases[name].replaced(0, put(plan, word, value))
        for i, word, values in BAD_OP:
            for value in values:
                yield cases[name].replaced(0, put(plan, L.op_base(i) + word, value))
    for word in (L.NET_IN_H, L.NET_IN_W, L.NET_IN_C):
        for value in SHAPE:
            yield cases["input"].replaced(0, put(cases["input"].args[0], word, value))
    yield cases["input"].replaced(0, put(cases["input"].args[0], L.TABLE_OFF, -1))
    yield from missing_parts(cases)
    yield from overlaps(cases)


def overlaps(cases):
    """Plans whose operators would run in place, or write the logits over a tensor."""
    for name in ("forward", "probe"):
        plan = cases[name].args[0]
        words = struct.unpack(f"<{len(plan.data) // 4}i", plan.data)
        for i in range(5):
            base = L.op_base(i)
            yield cases[name].replaced(0, put(plan, base + L.OUT_OFF, words[base + L.IN_OFF]))
        base = L.op_base(2)
        yield cases[name].replaced(0, put(plan, base + L.OUT_OFF, words[base + L.IN2_OFF] + 4))
        base = L.op_base(4)
        for word in (L.IN_OFF, L.OUT_OFF):
            yield cases[name].replaced(0, put(plan, L.LOGITS_OFF, words[base + word]))


def missing_parts(cases):
    """Calls that need a part of the state, or statistics, that the operator has not."""
    for name, op, word in (
        ("realign", 3, L.BIAS_OFF), ("realign", 3, L.MS_OFF), ("realign", 3, L.STAT_OFF),
        ("assign", 3, L.BIAS_OFF),
        ("assign", 3, L.MS_OFF), ("export_weights", 4, L.MASTER_OFF),
    ):  # fmt: skip
        yield cases[name].replaced(0, put(cases[name].args[0], L.op_base(op) + word, -1))
    case, base = cases["apply_grad"], L.op_base(3)
    frozen = put(put(case.args[0], base + L.MASTER_OFF, -1), base + L.BIAS_OFF, -1)
    yield case.replaced(0, frozen)
    for s1, s2 in ((101 << 30, 5), (0, -1), (0, (1 << 62) + 1)):
        yield cases["stats_finish"].replaced(2, Buf(struct.pack("<2q", s1, s2)))


def bad_cases(seed):
    """(case, strict), unjudged."""
    cases = {case.function: case for case in base_cases(random.Random(seed))}
    for case in cases.values():
        yield from spoil(case)
    for case in spoilt_words(cases):
        yield case, False


def is_refused(case):
    return case.expect in (VALUE_ERROR, TYPE_ERROR)
