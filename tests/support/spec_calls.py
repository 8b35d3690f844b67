"""The calls in the specification's `example` blocks, on any module with the native API.

An example line is `name(arguments) -> result`, both Python literals. CALLS[name](module,
*arguments) gives the result to compare; what the API has no function for is asked through a
network of one operator.
"""

import struct
from array import array

from microzo.net import arena as planner
from microzo.net import check as plancheck
from microzo.net import words as L


def one_op(**words):
    """(plan, words of the operator set) of a network with one operator."""
    plan = array("i", [0] * L.op_base(1))
    header = dict(
        MAGIC=L.MAGIC_VALUE,
        MAJOR=1,
        N_OPS=1,
        N_TENSORS=3,
        OUT_TENSOR=2,
        NET_IN_H=1,
        NET_IN_W=1,
        NET_IN_C=1,
    )
    op = dict(
        IN2=-1,
        OUT=2,
        K_H=1,
        K_W=1,
        S_H=1,
        S_W=1,
        ACT_MIN=-128,
        ACT_MAX=127,
        STAT_OFF=-1,
        B_MAX=1 << 24,
    )
    op.update(MASTER_OFF=-1, BIAS_OFF=-1, MS_OFF=-1)
    op.update(words)
    header["CLASSES"] = op["OUT_H"] * op["OUT_W"] * op["OUT_C"]
    header["LOGIT_MULT"] = 1 << 30
    for name, value in header.items():
        plan[getattr(L, name)] = value
    for name, value in op.items():
        plan[L.op_base(0) + getattr(L, name)] = value
    return plan


def int8s(values):
    return struct.pack(f"<{len(values)}b", *values)


def run(module, plan, blob, *inputs):
    """Output of the one operator, a list."""
    o = L.op_base(0)
    at = 0
    for word, values in zip((L.IN_OFF, L.IN2_OFF), inputs, strict=False):
        plan[o + word] = at
        at += planner.align(len(values), 4)
    plan[o + L.OUT_OFF] = at
    count = planner.out_size(plan, o)
    plan[L.LOGITS_OFF] = at + planner.align(count, 4)
    plan[L.SCRATCH_OFF] = plan[L.LOGITS_OFF] + 4 * count
    plan[L.SCRATCH_LEN] = planner.scratch(plan, o)
    arena = bytearray(plan[L.SCRATCH_OFF] + plan[L.SCRATCH_LEN])
    for word, values in zip((L.IN_OFF, L.IN2_OFF), inputs, strict=False):
        arena[plan[o + word] : plan[o + word] + len(values)] = int8s(values)
    module.forward(plan, blob, bytearray(0), arena, 0, 1, 0)
    return list(struct.unpack_from(f"<{count}b", arena, at))


def shape(h, w, c, out_h, out_w, out_c):
    return dict(IN_H=h, IN_W=w, IN_C=c, OUT_H=out_h, OUT_W=out_w, OUT_C=out_c)


def requant(module, acc, mult, shift):
    out = array("i", [0] * len(acc))
    module.requant(array("i", acc), mult, shift, out)
    return list(out)


def dense(module, x, in_zp, weights, bias, mult, shift, out_zp):
    """One output."""
    blob = int8s(weights) + bytes(-len(weights) % 4)
    words = dict(W_OFF=0, B_OFF=len(blob), M_OFF=len(blob) + 4, S_OFF=len(blob) + 8)
    blob += struct.pack("<2ibxxx", bias, mult, shift)
    plan = one_op(
        KIND=L.DENSE, IN_ZP=in_zp, OUT_ZP=out_zp, **words, **shape(1, 1, len(x), 1, 1, 1)
    )
    return run(module, plan, blob, x)[0]


def once(module, acc, mult, shift):
    """Dense layers with ROUND_ONCE: the accumulator is the bias."""
    out = []
    for bias in acc:
        blob = struct.pack("<bxxx2ibxxx", 0, bias, mult, shift)
        words = dict(FLAGS=L.ROUND_ONCE, W_OFF=0, B_OFF=4, M_OFF=8, S_OFF=12)
        plan = one_op(KIND=L.DENSE, **words, **shape(1, 1, 1, 1, 1, 1))
        out += run(module, plan, blob, [0])
    return out


def subtract(*args):
    return add(*args)


def mul(module, x1, zp1, x2, zp2, mult, shift, out_zp):
    words = dict(IN_ZP=zp1, IN2_ZP=zp2, OUT_ZP=out_zp, MULT=mult, SHIFT=shift, IN2=1)
    return run(
        module, one_op(KIND=L.MUL, **words, **shape(1, 1, 1, 1, 1, 1)), bytes(256), [x1], [x2]
    )[0]


def mean(module, cells, zp, mult, shift, out_zp):
    """The mean of a row of cells."""
    words = dict(K_W=len(cells), IN_ZP=zp, OUT_ZP=out_zp, MULT=mult, SHIFT=shift)
    return run(
        module, one_op(KIND=L.MEAN, **words, **shape(1, len(cells), 1, 1, 1, 1)), bytes(256), cells
    )[0]


def concat(module, first, second):
    """Two rows of channels."""
    plan = one_op(KIND=L.CONCAT, IN2=1, **shape(1, 1, len(first), 1, 1, len(first) + len(second)))
    return run(module, plan, bytes(256), first, second)


def lut(module, values):
    """A table that negates: -1 - x."""
    table = int8s([-1 - x for x in range(-128, 128)])
    return run(
        module,
        one_op(KIND=L.LUT, W_OFF=0, **shape(1, 1, len(values), 1, 1, len(values))),
        table,
        values,
    )


def add(module, x1, zp1, mult1, shift1, x2, zp2, mult2, shift2, mult, shift, out_zp):
    words = dict(IN_ZP=zp1, IN2_ZP=zp2, OUT_ZP=out_zp, MULT=mult, SHIFT=shift)
    words.update(MULT1=mult1, SHIFT1=shift1, MULT2=mult2, SHIFT2=shift2, IN2=1)
    return run(
        module, one_op(KIND=L.ADD, **words, **shape(1, 1, 1, 1, 1, 1)), bytes(256), [x1], [x2]
    )[0]


def avgpool(module, cells):
    """The mean of a row of cells."""
    plan = one_op(KIND=L.AVGPOOL, K_W=len(cells), **shape(1, len(cells), 1, 1, 1, 1))
    return run(module, plan, bytes(256), cells)[0]


def bias_step(module, eps_b, mult, shift):
    """eb, seen as the step of an update with coef = 256."""
    plan = one_op(KIND=L.DENSE, EPS_B=eps_b, BIAS_OFF=0, MS_OFF=8, **shape(1, 1, 1, 1, 1, 1))
    state = bytearray(struct.pack("<iiib", 0, 0, mult, shift))
    params = array("i", (0, 1, L.BIASES, 1, 0))
    module.update(plan, bytes(256), state, bytearray(0), params, array("i", (1, 256)))
    return abs(struct.unpack_from("<i", state)[0])


def word(module, seed, t, n):
    """Word n of a stream, put together from the signs of row n of length 32."""
    out = bytearray(32)
    module.signs(seed, t, n, 32, out)
    return sum(1 << (r >> 2) + 8 * (r & 3) for r in range(32) if out[r] == 255)


def signs(module, seed, t, row, k):
    out = array("b", bytes(k))
    module.signs(seed, t, row, k, out)
    return list(out)


def shuffle(module, seed, values):
    idx = array("H", values)
    module.shuffle(seed, idx)
    return list(idx)


def loss(module, logits, label):
    """(loss, err)"""
    plan = one_op(KIND=L.DENSE, **shape(1, 1, 1, 1, 1, len(logits)))
    err = array("i", [0] * len(logits))
    return module.loss(
        plan, bytearray(struct.pack(f"<{len(logits)}i", *logits)), label, err
    ), list(err)


def stats_finish(module, n, s, s1, s2):
    """(mean, sd) of one channel"""
    out = array("i", (0, 0))
    module.stats_finish(n, s, struct.pack("<2q", s1, s2), out)
    return tuple(out)


def realign(module, held, file, clean, target, alpha, b_max):
    """(bias, mult, shift) of one channel"""
    plan = one_op(
        KIND=L.DENSE, BIAS_OFF=0, MS_OFF=8, STAT_OFF=0, B_OFF=8, M_OFF=12, S_OFF=16,
        **shape(1, 1, 1, 1, 1, 1),
    )  # fmt: skip
    plan[L.op_base(0) + L.B_MAX] = b_max
    out = array("i", (0, 0, 0))
    bias, mult, shift = held
    state = struct.pack("<iiib", bias, 0, mult, shift)
    blob = struct.pack("<4ib", *clean, *file)
    module.realign(plan, blob, state, 0, array("i", target), alpha, out)
    return tuple(out)


def crc32(module, text):
    return module.crc32(text, 0, len(text))


def derive(module, seed, a, b):
    return module.derive(seed, a, b)


def fraction_bits(module, k, in_zp, eps_w, b_max):
    """F of a layer; the kernels take it and refuse the next larger one."""
    plan = one_op(KIND=L.DENSE, IN_ZP=in_zp, EPS_W=eps_w, **shape(1, 1, k, 1, 1, 1))
    o = L.op_base(0)
    plan[o + L.B_MAX] = b_max
    f = plancheck.fraction_bits(plan, o)
    plan[o + L.MASTER_OFF] = 0
    accepted = []
    for plan[o + L.F] in range(9):
        try:
            module.export_weights(plan, bytes(2 * k), 0, bytearray(k))
            accepted.append(plan[o + L.F])
        except ValueError:
            pass
    return f if accepted == list(range(f + 1)) else accepted


CALLS = {
    call.__name__: call
    for call in (
        requant, dense, once, add, subtract, mul, mean, avgpool, concat, lut, bias_step, word,
        signs, shuffle, loss, stats_finish, realign, crc32, derive, fraction_bits,
    )
}  # fmt: skip
