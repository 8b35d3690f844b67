"""The native API (SPEC.md, section 4) over NumPy: same names, arguments and errors as the C
kernels.

Buffers are any contiguous objects with the buffer protocol and are written in place.
"""

import itertools
import operator
import zlib

import numpy as np

from microzo.net import words as L

from . import gradient, ops, rng, zo
from . import node as nodes
from . import stats as statistics
from .loss import cross_entropy
from .patches import add_sums as add_patch_sums
from .record import Net, part, readable, require, writable
from .requant import requant as requantize


def integer(value):
    value = operator.index(value)
    require(-(1 << 31) < value < 1 << 31, "an integer is out of range")
    return value


def whole(buf, dtype):
    """All of a buffer as an array; its length must be a multiple of the item size."""
    require(
        len(buf) % np.dtype(dtype).itemsize == 0, "a buffer's length is no multiple of its items"
    )
    return part(buf, 0, len(buf) // np.dtype(dtype).itemsize, dtype)


def parameters(params, count):
    return [int(v) for v in part(readable(params, 4), 0, count, np.int32)]


def refuse_overlap(outputs, others):
    """No output may share memory with another buffer of the call."""
    for i, out in enumerate(outputs):
        for other in [*others, *outputs[:i]]:
            require(
                not np.shares_memory(readable(out), readable(other)),
                "a writable buffer overlaps another one",
            )


def check_seed(seed):
    require(0 <= seed < 1 << 30, "a seed must be in 0..2^30-1")


def check_span(net, low, high, what):
    require(0 <= low <= high <= net.n_ops, "lo and hi must satisfy 0 <= lo <= hi <= N_OPS")
    require(0 <= what <= 7, "what must be 0..7")


def version():
    return 100 * L.VERSION_MAJOR + L.VERSION_MINOR


def input(plan, blob, arena, sample):
    refuse_overlap([arena], [plan, blob, sample])
    net = Net(plan, blob, None, arena)
    words = net.words
    count = int(words[L.NET_IN_H]) * int(words[L.NET_IN_W]) * int(words[L.NET_IN_C])
    require(
        all(1 <= words[w] <= 65535 for w in (L.NET_IN_H, L.NET_IN_W, L.NET_IN_C)),
        "the input shape is out of range",
    )
    table = part(net.blob, int(words[L.TABLE_OFF]), 256, np.int8)
    raw = part(readable(sample, 1), 0, count, np.uint8)
    target = part(net.arena, int(words[L.op_base(0) + L.IN_OFF]), count, np.int8)
    target[...] = table[raw]
    return 0


def forward(plan, blob, state, arena, first, last, mode):
    refuse_overlap([state, arena], [plan, blob])
    net = Net(plan, blob, state, arena)
    first, last, mode = integer(first), integer(last), integer(mode)
    require(mode in (0, 1), "mode must be 0 or 1")
    ops.check_range(net, first, last)
    return ops.forward(net, first, last, ops.Reading(mode == 1))


def loss(plan, arena, label, err):
    refuse_overlap([err], [plan, arena])
    net = Net(plan, arena=arena, access=readable)
    label, err = integer(label), writable(err, 4)
    require(0 <= label < net.classes, "the label is out of range")
    target = part(err, 0, net.classes, np.int32) if len(err) else None
    value, error = cross_entropy(net.logits(), label)
    if target is not None:
        target[...] = error
    return value


def probe(plan, blob, state, arena, params, out):
    refuse_overlap([state, arena, out], [plan, blob, params])
    net = Net(plan, blob, state, arena)
    first, seed, label, mode, what, low, high, eps_shift = parameters(params, 8)
    losses = part(writable(out, 4), 0, 2, np.int32)
    check_seed(seed)
    check_span(net, low, high, what)
    require(0 <= label < net.classes, "the label is out of range")
    require(0 <= mode <= 7, "mode must be 0..7")
    if mode & 4:
        part(writable(out, 4), 0, L.KEPT + 8, np.int32)  # this oracle keeps nothing
    require(0 <= eps_shift <= 31, "eps_shift must be 0..31")
    ops.check_range(net, first, net.n_ops)
    losses[...] = zo.probe(net, first, seed, label, mode, what, low, high, eps_shift)
    return 0


def update(plan, blob, state, arena, params, pairs):
    refuse_overlap([state, arena], [plan, blob, params, pairs])
    net = Net(plan, blob, state, arena)
    low, high, what, n, shift = parameters(params, 5)
    check_span(net, low, high, what)
    require(0 <= n <= 64, "n must be 0..64")
    require(0 <= shift <= 31, "shift must be 0..31")
    table = part(readable(pairs, 4), 0, 2 * n, np.int32).reshape(n, 2).tolist()
    for seed, coef in table:
        check_seed(seed)
        require(abs(coef) <= 1 << 20, "a coefficient is out of range")
    for i in range(low, high):
        o = net.op(i)
        if o.weighted:
            net.masters(o), net.state_bias(o), net.scale(o)
    zo.update(net, low, high, what, shift, table)
    return 0


def init_state(plan, blob, state):
    refuse_overlap([state], [plan, blob])
    net = Net(plan, blob, state)
    moves = []
    for o in map(net.op, range(net.n_ops)):
        if not o.weighted:
            continue
        if o.master_off >= 0:
            moves.append((net.masters(o), net.weights(o).astype(np.int16) << 8))
        if o.bias_off >= 0:
            moves.append((net.state_bias(o), net.blob_bias(o)))
        if o.ms_off >= 0:
            moves += zip(net.state_scale(o), net.blob_scale(o), strict=True)
    for target, value in moves:
        target[...] = value
    return 0


def stats(plan, blob, state, arena, op, s, sums):
    refuse_overlap([state, arena, sums], [plan, blob])
    net = Net(plan, blob, state, arena)
    o, s, sums = net.weighted(integer(op)), integer(s), writable(sums, 8)
    require(0 <= s <= 31, "s must be 0..31")
    target = part(sums, 0, 2 * o.out_c, np.int64).reshape(2, o.out_c)
    net.input(o)
    net.check_scratch(o)
    statistics.accumulate_sums(net, o, s, target)
    return 0


def stats_finish(n, s, sums, out):
    refuse_overlap([out], [sums])
    n, s, sums = integer(n), integer(s), readable(sums, 8)
    require(n >= 1, "n must be at least 1")
    require(0 <= s <= 31, "s must be 0..31")
    require(len(sums) % 16 == 0, "sums must hold two int64 a channel")
    s1, s2 = whole(sums, np.int64).reshape(2, -1).tolist()
    target = part(writable(out, 4), 0, 2 * len(s1), np.int32).reshape(2, -1)
    small = all(abs(a) // n <= 1 << 30 and 0 <= b <= 1 << 62 for a, b in zip(s1, s2, strict=True))
    require(small, "sums of n accumulators are smaller")
    for c in range(len(s1)):
        target[:, c] = statistics.finish(n, s, s1[c], s2[c])
    return 0


def realign(plan, blob, state, op, stats, alpha, out):
    refuse_overlap([out], [plan, blob, state, stats])
    net = Net(plan, blob, state, access=readable)
    o, alpha = net.weighted(integer(op)), integer(alpha)
    require(0 <= alpha <= 256, "alpha must be 0..256")
    require(
        o.bias_off >= 0 and o.ms_off >= 0,
        "realign needs the operator's biases and multipliers in the state",
    )
    wanted = part(readable(stats, 4), 0, 2 * o.out_c, np.int32).reshape(2, o.out_c)
    target = part(writable(out, 4), 0, 3 * o.out_c, np.int32).reshape(3, o.out_c)
    target[...] = statistics.realign(net, o, wanted, alpha)
    return 0


def assign(plan, state, op, vals):
    refuse_overlap([state], [plan, vals])
    net = Net(plan, None, state)
    o = net.weighted(integer(op))
    require(
        o.bias_off >= 0 and o.ms_off >= 0,
        "assign needs the operator's biases and multipliers in the state",
    )
    bias, mult, shift = part(readable(vals, 4), 0, 3 * o.out_c, np.int32).reshape(3, o.out_c)
    held, (held_mult, held_shift) = net.state_bias(o), net.state_scale(o)
    require((abs(bias.astype(np.int64)) <= o.b_max).all(), "a bias is out of range")
    require(((mult == 0) | (mult >= 1 << 30)).all(), "a multiplier is out of range")
    require(((shift >= -31) & (shift <= 30)).all(), "a shift is out of range")
    held[...], held_mult[...], held_shift[...] = bias.copy(), mult.copy(), shift.copy()
    return 0


def head_grad(plan, blob, state, arena, op, err, grad):
    refuse_overlap([state, arena, grad], [plan, blob, err])
    net = Net(plan, blob, state, arena)
    o = net.op(integer(op))
    require(o.kind == L.DENSE, "the head must be a DENSE operator")
    error = part(readable(err, 4), 0, o.out_c, np.int32)
    target = part(writable(grad, 4), 0, o.out_c * (o.k + 1), np.int32)
    gradient.head(net, o, error, target)
    return 0


def tail_grad(plan, blob, state, arena, op, head, err, grad):
    refuse_overlap([state, arena, grad], [plan, blob, err])
    net = Net(plan, blob, state, arena)
    o, head = net.op(integer(op)), net.op(integer(head))
    require(o.kind == L.CONV and head.kind == L.DENSE, "the tail is a CONV and a DENSE")
    at = head.index - 1
    last = net.op(at) if at > o.index else None
    pool = last if last and _averages(last) and last.out_id == head.in_id else None
    at -= pool is not None
    gate = net.op(at) if at > o.index else o
    if gate is not o:
        require(
            gate.kind == L.ADD
            and not gate.flags & (L.SPREAD_HW | L.SPREAD_C)
            and o.out_id in (gate.in_id, gate.in2_id),
            "between the tail's CONV and DENSE may be an ADD and an average",
        )
    chain = [gate, pool, head] if pool else [gate, head]
    for one, other in itertools.pairwise(chain):
        require(one.out_id == other.in_id, "the tail is not connected")
    require(head.index > o.index, "the tail is not connected")
    require(
        (gate.out_h, gate.out_w, gate.out_c) == (o.out_h, o.out_w, o.out_c)
        and (pool is None or (pool.in_h, pool.in_w, pool.in_c) == (o.out_h, o.out_w, o.out_c))
        and head.k == (pool or o).out_size,
        "the tail's shapes differ",
    )
    error = part(readable(err, 4), 0, head.out_c, np.int32)
    target = part(writable(grad, 4), 0, o.out_c * (o.k + 1), np.int32)
    net.input(o), net.output(o), net.output(gate)
    gradient.tail(net, o, gate, pool, head, error, target)
    return 0


def _averages(op):
    """True for a pool that has a closed form."""
    return (
        op.kind in (L.AVGPOOL, L.MEAN)
        and (op.k_h == op.s_h or op.out_h == 1)
        and (op.k_w == op.s_w or op.out_w == 1)
        and op.p_t == op.p_b == op.p_l == op.p_r == 0
    )


def node(plan, blob, state, arena, params, y, sums, out):
    refuse_overlap([state, arena, y, sums, out], [plan, blob, params])
    net = Net(plan, blob, state, arena)
    op, seed, label, mode, eps, scale, shift, clip = parameters(params, 8)
    losses = part(writable(out, 4), 0, 2, np.int32)
    check_seed(seed)
    require(0 <= label < net.classes, "the label is out of range")
    require(0 <= mode <= 7, "mode must be 0..7")
    shared, mode = mode & 4, mode & 3
    require((-127 if mode == 2 else 1) <= eps <= 127, "eps is 1..127, or -127..127 in mode 2")
    least = -32767 if mode == 3 else 0
    require(least <= clip <= 32767, "clip is 0..32767, in mode 3 of any sign")
    require(0 <= scale <= 256 and 0 <= shift <= 31, "scale is 0..256, shift 0..31")
    require(0 <= op <= net.n_ops - 2, "op must be before the last operator")
    ops.check_range(net, op, net.n_ops)
    o = net.op(op)
    kept = part(writable(y, 1), 0, o.out_size if mode < 2 else 0, np.int8)
    target = part(writable(sums, 4), 0, o.out_size, np.int32)
    if mode == 2:
        nodes.move(net, o, nodes.signs(net, o, seed, shared), eps)
        return 0
    if mode == 3:
        nodes.credit(nodes.signs(net, o, seed, shared), clip, target)
        return 0
    settings = (mode, eps, scale, shift, clip)
    losses[...] = nodes.probe(net, o, seed, shared, label, *settings, kept, target)
    return 0


def node_grad(plan, arena, op, shift, sums, grad):
    refuse_overlap([arena, sums, grad], [plan])
    net = Net(plan, None, None, arena)
    o, shift = net.weighted(integer(op)), integer(shift)
    require(0 <= shift <= 31, "shift must be 0..31")
    source = part(writable(sums, 4), 0, o.out_size, np.int32)
    target = part(writable(grad, 4), 0, o.out_c * (o.k + 1), np.int32)
    net.input(o), net.output(o)
    net.check_scratch(o)
    nodes.gradient(net, o, shift, source, target)
    return 0


def patch_sums(plan, arena, seed, sample, patches, sums, products):
    refuse_overlap([arena, sums, products], [plan])
    net = Net(plan, None, None, arena)
    o, seed, sample, number = net.op(0), integer(seed), integer(sample), integer(patches)
    require(o.kind == L.CONV, "operator 0 is no CONV")
    require(o.k_h <= o.in_h and o.k_w <= o.in_w and o.k <= 255, "the patches do not fit")
    check_seed(seed)
    require(0 <= sample < 1 << 28 and 0 <= number < 1 << 16, "sample or patches out of range")
    first = part(writable(sums, 4), 0, o.k, np.int32)
    second = part(writable(products, 4), 0, o.k * (o.k + 1) // 2, np.int32)
    x = net.input(o)
    net.output(o)
    net.check_scratch(o)
    add_patch_sums(o, x, seed, sample, number, first, second)
    return 0


def apply_grad(plan, state, op, shift, decay, grad):
    refuse_overlap([state, grad], [plan])
    net = Net(plan, None, state)
    o, shift, decay = net.weighted(integer(op)), integer(shift), integer(decay)
    require(0 <= shift <= 31 and 0 <= decay <= 31, "shift and decay must be 0..31")
    require(o.master_off >= 0 or o.bias_off >= 0, "the operator has nothing to train")
    target = part(writable(grad, 4), 0, o.out_c * (o.k + 1), np.int32)
    net.masters(o), net.state_bias(o)
    gradient.apply(net, o, shift, decay, target)
    return 0


def export_weights(plan, state, op, out):
    refuse_overlap([out], [plan, state])
    net = Net(plan, state=state, access=readable)
    o = net.weighted(integer(op))
    require(o.master_off >= 0, "the operator has no masters")
    target = part(writable(out, 1), 0, o.out_c * o.k, np.int8)
    target[...] = ((net.masters(o).astype(np.int32) + 128) >> 8).reshape(-1)
    return 0


def signs(seed, t, row, k, out):
    seed, t, row, k = integer(seed), integer(t), integer(row), integer(k)
    check_seed(seed)
    require(t >= 0 and row >= 0 and k >= 1, "stream, row and length must not be negative")
    part(writable(out, 1), 0, k, np.int8)[...] = rng.sign_rows(seed, t, [row], k)[0]
    return 0


def derive(seed, a, b):
    seed, a, b = integer(seed), integer(a), integer(b)
    check_seed(seed)
    require(0 <= a < 1 << 28 and 0 <= b < 1 << 28, "a and b must be in 0..2^28-1")
    return rng.derive(seed, a, b)


def shuffle(seed, idx):
    seed, idx = integer(seed), whole(writable(idx, 2), np.uint16)
    check_seed(seed)
    require(len(idx) <= 65536, "at most 65536 entries")
    rng.shuffle(seed, idx)
    return 0


def crc32(buf, start, end):
    buf, start, end = readable(buf), integer(start), integer(end)
    require(0 <= start <= end <= len(buf), "start and end must lie in the buffer")
    return zlib.crc32(buf[start:end]) & 0x3FFFFFFF


def seal(buf, n):
    buf, n = writable(buf), integer(n)
    require(0 <= n <= len(buf) - 4, "n must leave room for the CRC")
    buf[n : n + 4] = list(zlib.crc32(buf[:n]).to_bytes(4, "little"))
    return 0


def check_seal(buf, n):
    buf, n = readable(buf), integer(n)
    require(0 <= n <= len(buf) - 4, "n must leave room for the CRC")
    return int(zlib.crc32(buf[:n]).to_bytes(4, "little") == buf[n : n + 4].tobytes())


def requant(acc, mult, shift, out):
    refuse_overlap([out], [acc])
    mult, shift = integer(mult), integer(shift)
    ops.check_scale(mult, shift, 30)
    values = whole(readable(acc, 4), np.int32)
    target = part(writable(out, 4), 0, len(values), np.int32)
    target[...] = requantize(values, mult, shift)
    return 0
