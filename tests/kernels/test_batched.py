"""The oracle gives the same bits for a batch of a model's samples as for one sample of a plan.

The kernels are held to the oracle by test_properties.py and fuzz.py; so all homes of the
forward arithmetic agree.
"""

import random
import struct

import netgen
import numpy as np
import targets

from microzo.net import arena as planner
from microzo.net import words as L
from microzo_host import reference as oracle
from microzo_host.model import fields
from microzo_host.model.file import DILATIONS, Op, constant_size
from microzo_host.reference import batch
from microzo_host.reference.requant import once, requant

COUNT = 1500 if targets.FULL else 150
LOGIT_LIMIT = 1 << 20


def host_op(net, i):
    """Operator i as the host has it."""
    record = net.plan[L.op_base(i) : L.op_base(i + 1)]
    op = Op(f"op{i}", **{name: record[word] for name, word in fields.VALUES.items()})
    for name, (word, kinds) in fields.SHARED.items():
        if op.kind in kinds:
            setattr(op, name, max(record[word], 1) if name in DILATIONS else record[word])

    def values(form, field, count, shape=-1):
        array = struct.unpack_from(f"<{count}{form}", net.blob, record[fields.ARRAYS[field]])
        setattr(op, field, np.array(array, {"b": np.int8, "i": np.int32}[form]).reshape(shape))

    if op.kind > L.DENSE:
        if constant_size(op):
            values("b", "weight", constant_size(op))
        return op
    c = op.out_c
    shape = c, op.k_h, op.k_w, 1 if op.kind == L.DWCONV else op.in_c
    values("b", "weight", c * op.row, shape)
    values("i", "bias", c)
    values("i", "mults", c)
    values("b", "shifts", c)
    if op.flags & L.EMIT_LOGITS:
        values("i", "lmults", c)
        values("b", "lshifts", c)
    return op


def int8s(arena, offset, count):
    return np.frombuffer(bytes(arena[offset : offset + count]), np.int8)


def test_any_operator_gives_the_oracles_bits():
    rng, kinds, flags = random.Random(5), set(), 0
    for _ in range(COUNT):
        net = netgen.random_net(rng)
        plan, arena = net.finish(trainable=-1).plan, net.arena()
        assert plan[L.STATE_LEN] == 0
        for i in range(len(net.ops)):
            o, op = L.op_base(i), host_op(net, i)
            shape = 1, op.in_h, op.in_w, op.in_c
            x = int8s(arena, plan[o + L.IN_OFF], planner.in_size(plan, o)).reshape(shape)
            other = None
            if op.in2 != -1:
                other = int8s(arena, plan[o + L.IN2_OFF], planner.in2_size(plan, o))
            oracle.forward(plan, bytes(net.blob), bytearray(0), arena, i, i + 1, 0)
            output = int8s(arena, plan[o + L.OUT_OFF], planner.out_size(plan, o))
            case = L.KIND_NAMES[op.kind], net.ops[i]
            assert (batch.run_op(op, x, other).ravel() == output).all(), case
            if op.flags & L.EMIT_LOGITS and op.kind <= L.DENSE:
                at, count = plan[L.LOGITS_OFF], plan[L.CLASSES]
                logits = struct.unpack_from(f"<{count}i", arena, at)
                acc = batch.accumulators(op, x)
                acc = requant(acc, op.lmults, op.lshifts).ravel()
                assert tuple(np.clip(acc, -LOGIT_LIMIT, LOGIT_LIMIT)) == logits, case
            kinds.add(op.kind)
            flags |= op.flags << (0 if op.kind <= L.DENSE else 4)
    assert kinds == set(range(L.CONV, L.LUT + 1))
    spread = L.SPREAD_HW | L.SPREAD_C
    assert flags == L.EMIT_LOGITS | L.ROUND_ONCE | spread << 4


def halved(value, n):
    """value / 2^n to nearest, halves away from 0; Python's integers of any length."""
    return (abs(value) + (1 << n >> 1) >> n) * (1 if value >= 0 else -1)


def test_rounding_of_halves():
    """Sums that lie between two results: their rounding depends on the sign."""
    rng = random.Random(6)
    for shift in range(-20, 1):
        half = 1 << -shift  # with the smallest multiplier
        sums = [n * half + d for n in range(-9, 10) for d in (-1, 0, 1)]
        acc = np.array(sums, np.int64)
        for mult in (1 << 30, (1 << 30) + (1 << 29), rng.randrange(1 << 30, 1 << 31)):
            exact = [halved(a * mult, 31 - shift) for a in sums]
            assert once(acc, mult, shift).tolist() == exact, (mult, shift)
            twice = [halved((a * mult + (1 << 30)) >> 31, -shift) for a in sums]
            assert requant(acc, mult, shift).tolist() == twice, (mult, shift)


def test_a_batch_is_its_samples():
    """Every sample of a batch gets what it gets alone, for each kind of operator."""
    rng = random.Random(9)
    values = np.random.Generator(np.random.PCG64(9))
    for _ in range(COUNT // 10):
        net = netgen.random_net(rng)
        net.finish(trainable=-1)
        for i in range(len(net.ops)):
            op = host_op(net, i)
            if op.in2 != -1:
                continue
            x = values.integers(-128, 128, (3, op.in_h, op.in_w, op.in_c)).astype(np.int8)
            whole = batch.run_op(op, x)
            for sample, output in zip(x, whole):
                assert (batch.run_op(op, sample[None])[0].ravel() == output.ravel()).all(), op


def test_long_rows_are_exact():
    """Sums that a float32 cannot hold."""
    k = 1001
    op = Op("long", L.DENSE, in_c=k, in_zp=127, weight=np.full((1, 1, 1, k), 127, np.int8))
    op.bias = np.array([1], np.int32)
    x = np.full((1, 1, 1, k), -128, np.int8)
    x.flat[0] = 126
    assert batch.accumulators(op, x).item() == 127 * (-255 * (k - 1) - 1) + 1
