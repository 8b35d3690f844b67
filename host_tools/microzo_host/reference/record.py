"""A plan, its operators and buffers, read and checked (SPEC.md, sections 3 and 4)."""

from types import SimpleNamespace

import numpy as np

from microzo.net import words as L

from ..model import fields

WEIGHTED = (L.CONV, L.DWCONV, L.DENSE)
POOLS = (L.AVGPOOL, L.MAXPOOL)
TWO_INPUTS = (L.ADD, L.MUL, L.CONCAT)


def require(condition, message):
    if not condition:
        raise ValueError(message)


def readable(obj, size=None):
    """A uint8 view of a buffer of bytes, or of integers of `size` bytes (None: any)."""
    view = memoryview(obj)
    if (
        view.format.strip("@=<") not in tuple("bBhHiIlLqQ")
        or size
        and view.itemsize not in (1, size)
    ):
        raise TypeError("a buffer has the wrong type of items")
    view = view.cast("B")
    return np.frombuffer(view, np.uint8) if len(view) else np.zeros(0, np.uint8)


def writable(obj, size=None):
    if memoryview(obj).readonly:
        raise TypeError("an output buffer is read-only")
    return readable(obj, size)


def part(buf, offset, count, dtype):
    """A typed view of buf (uint8 array) from a byte offset, checked for bounds and alignment."""
    size = np.dtype(dtype).itemsize
    require(0 <= offset and offset + count * size <= len(buf), "a buffer is too short")
    view = buf[offset : offset + count * size]
    require(view.ctypes.data % size == 0, "a buffer or offset is not aligned")
    return view.view(dtype)


def derived(o):
    """What follows from an operator's words: sizes, k = row length, whether it has weights."""
    rows = {L.CONV: o.k_h * o.k_w * o.in_c, L.DWCONV: o.k_h * o.k_w, L.DENSE: o.in_c}
    return {
        "in_size": o.in_h * o.in_w * o.in_c,
        "out_size": o.out_h * o.out_w * o.out_c,
        "k": rows.get(o.kind, 0),
        "weighted": o.kind in WEIGHTED,
    }


class Net:
    """Plan and buffers of one call. blob, state and arena may be None where the call has none;
    access: `readable` for a call that changes neither state nor arena."""

    def __init__(self, plan, blob=None, state=None, arena=None, access=writable):
        raw = readable(plan, 4)
        self.words = words = part(raw, 0, len(raw) // 4, np.int32)
        require(len(words) >= L.HEADER_WORDS, "the plan is too short")
        require(
            words[L.MAGIC] == L.MAGIC_VALUE and words[L.MAJOR] == L.VERSION_MAJOR,
            "not a plan of this version",
        )
        self.n_ops = int(words[L.N_OPS])
        require(1 <= self.n_ops <= fields.MAX_OPS, "the plan is cut")
        require(len(words) >= L.op_base(self.n_ops), "the plan is cut")
        self.classes = int(words[L.CLASSES])
        require(1 <= self.classes <= fields.MAX_CLASSES, "classes out of range")
        self.blob = None if blob is None else readable(blob)
        self.state = None if state is None else access(state)
        self.arena = None if arena is None else access(arena)

    def logits(self):
        """The logits' place in the arena, int32[classes]."""
        return part(self.arena, int(self.words[L.LOGITS_OFF]), self.classes, np.int32)

    def op(self, index):
        """Operator `index`, checked: its words in lower case, and k = row length."""
        require(0 <= index < self.n_ops, "no such operator")
        base = L.op_base(index)
        words = {name: int(self.words[base + word]) for name, word in fields.OPERATOR.items()}
        o = SimpleNamespace(**words, index=index, **derived(SimpleNamespace(**words)))
        check_shape(o)
        if o.weighted:
            check_training(o)
        return o

    def weighted(self, index):
        o = self.op(index)
        require(o.weighted, "the operator has no weights")
        return o

    def check_scratch(self, o):
        """The scratch is large enough, and apart from the operator's tensors and the logits."""
        offset, length = int(self.words[L.SCRATCH_OFF]), int(self.words[L.SCRATCH_LEN])
        need = scratch_bytes(o)
        require(length >= need, "SCRATCH_LEN is too small")
        scratch = part(self.arena, offset, length // 4, np.int32)[: need // 4]
        for tensor in (self.input(o), self.output(o), self.logits()):
            require(not np.shares_memory(scratch, tensor), "the scratch overlaps a tensor")

    # activations, int8 views of the arena

    def input(self, o):
        return part(self.arena, o.in_off, o.in_size, np.int8).reshape(o.in_h, o.in_w, o.in_c)

    def input2(self, o):
        """The second operand, in a shape that broadcasts to the first's; it may be a constant."""
        if o.kind == L.CONCAT:
            sides = ((o.in_h, o.out_h), (o.in_w, o.out_w), (o.in_c, o.out_c))
            shape = tuple(after - before or before for before, after in sides)
        else:
            shape = (1, 1) if o.flags & L.SPREAD_HW else (o.in_h, o.in_w)
            shape += (1 if o.flags & L.SPREAD_C else o.in_c,)
        constant = o.in2_id == -1 and o.kind != L.CONCAT
        count = shape[0] * shape[1] * shape[2]
        buf, offset = (self.blob, o.w_off) if constant else (self.arena, o.in2_off)
        return part(buf, offset, count, np.int8).reshape(shape)

    def table(self, o):
        """int8[256] of a LUT."""
        return part(self.blob, o.w_off, 256, np.int8)

    def output(self, o):
        return part(self.arena, o.out_off, o.out_size, np.int8).reshape(o.out_h, o.out_w, o.out_c)

    # parameters as in the blob

    def weights(self, o):
        return part(self.blob, o.w_off, o.out_c * o.k, np.int8).reshape(o.out_c, o.k)

    def blob_bias(self, o):
        return part(self.blob, o.b_off, o.out_c, np.int32)

    def blob_scale(self, o):
        return part(self.blob, o.m_off, o.out_c, np.int32), part(
            self.blob, o.s_off, o.out_c, np.int8
        )

    def logit_scale(self, o):
        return part(self.blob, o.l_off, o.out_c, np.int32), part(
            self.blob, o.ls_off, o.out_c, np.int8
        )

    def clean(self, o):
        require(o.stat_off >= 0, "the operator has no clean statistics")
        return part(self.blob, o.stat_off, 2 * o.out_c, np.int32).reshape(2, o.out_c)

    # parameters in the state, None where the operator is frozen

    def masters(self, o):
        if o.master_off < 0:
            return None
        return part(self.state, o.master_off, o.out_c * o.k, np.int16).reshape(o.out_c, o.k)

    def state_bias(self, o):
        return None if o.bias_off < 0 else part(self.state, o.bias_off, o.out_c, np.int32)

    def state_scale(self, o):
        if o.ms_off < 0:
            return None
        at = o.ms_off + 4 * o.out_c
        return part(self.state, o.ms_off, o.out_c, np.int32), part(
            self.state, at, o.out_c, np.int8
        )

    # what a forward pass reads, int64

    def bias(self, o):
        held = self.state_bias(o)
        if held is None:
            return self.file_bias(o)
        return np.clip(held.astype(np.int64), -o.b_max, o.b_max)

    def file_bias(self, o):
        return np.clip(self.blob_bias(o).astype(np.int64), -o.b_max, o.b_max)

    def scale(self, o):
        """(mult, shift), int64 arrays."""
        return _safe(self.state_scale(o) or self.blob_scale(o))

    def file_scale(self, o):
        return _safe(self.blob_scale(o))


def _safe(scale):
    mult, shift = scale
    return np.maximum(mult.astype(np.int64), 0), np.clip(shift.astype(np.int64), -31, 30)


def scratch_bytes(o):
    """Scratch that an operator with weights needs (SPEC.md, 3.1)."""
    if o.kind == L.DWCONV:
        return 32 * o.k + 8 * (o.in_w + o.p_l + o.p_r) * o.k_h + 128
    if o.kind == L.CONV:
        return max(22 * (o.k + 3 & ~3) + 128, 3072)
    return 12 * (o.k + 3 & ~3) + 128


def check_shape(o):
    """Ranges and relations that keep every kernel inside its buffers (SPEC.md, 4.1)."""
    require(L.CONV <= o.kind <= L.LUT, "unknown operator")
    known = L.EMIT_LOGITS | L.ROUND_ONCE if o.kind in WEIGHTED else 0
    known = L.SPREAD_HW | L.SPREAD_C if o.kind in (L.ADD, L.MUL) else known
    require(o.flags & ~known == 0, "a flag that the operator does not know")
    sizes = (o.in_h, o.in_w, o.in_c, o.out_h, o.out_w, o.out_c)
    require(all(1 <= v <= 65535 for v in sizes), "an operator's shape is out of range")
    require(
        o.in_h * o.in_w * o.in_c < 1 << 24 and o.out_h * o.out_w * o.out_c < 1 << 24,
        "a tensor is too large",
    )
    require(
        all(1 <= v <= 65535 for v in (o.k_h, o.k_w, o.s_h, o.s_w)),
        "a kernel or stride is out of range",
    )
    least = -65535 if o.kind == L.PAD else 0
    require(
        all(least <= v <= 65535 for v in (o.p_t, o.p_b, o.p_l, o.p_r)), "a padding is out of range"
    )
    if o.kind in WEIGHTED:
        require(all(0 <= v <= 65535 for v in (o.dil_h, o.dil_w)), "a dilation is out of range")
    o.dil_h, o.dil_w = (max(v, 1) if o.kind in WEIGHTED else 1 for v in (o.dil_h, o.dil_w))
    rows = 8 * (o.in_w + o.p_l + o.p_r) * o.k_h if o.kind == L.DWCONV else 0
    cells = 0 if o.kind in WEIGHTED else o.k_h * o.k_w
    require(rows < 1 << 24 and cells < 1 << 22, "a kernel is too large")
    require(
        all(-128 <= v <= 127 for v in (o.in_zp, o.in2_zp, o.out_zp, o.act_min, o.act_max)),
        "a zero point is out of range",
    )
    require(o.act_min <= o.act_max, "the clamp range is empty")
    for size, out, k, dilation, s, before, after in (
        (o.in_h, o.out_h, o.k_h, o.dil_h, o.s_h, o.p_t, o.p_b),
        (o.in_w, o.out_w, o.k_w, o.dil_w, o.s_w, o.p_l, o.p_r),
    ):
        room = size + before + after - (k - 1) * dilation - 1
        fits = o.kind == L.CONCAT or (room >= 0 and out == room // s + 1)
        require(fits, "an operator's output size is wrong")
        require(o.kind not in POOLS or max(before, after) < k, "a pool's padding is too large")
        if o.kind in (L.DENSE, L.PAD, L.LUT) + TWO_INPUTS:
            require(k == s == 1, "an operator has a kernel or stride")
        if o.kind in (L.DENSE, L.MEAN, L.LUT) + TWO_INPUTS:
            require(before == after == 0, "an operator has padding")
        require(o.kind != L.DENSE or size == 1, "a dense input is not flat")
    require(o.kind != L.DWCONV or o.out_c % o.in_c == 0, "depthwise channels do not divide")
    if o.kind == L.CONCAT:
        grown = [o.out_h - o.in_h, o.out_w - o.in_w, o.out_c - o.in_c]
        require(min(grown) == 0 and grown.count(0) == 2, "an operator's output size is wrong")
        return
    require(o.kind in WEIGHTED or o.in_c == o.out_c, "an operator changes the channels")


def check_training(o):
    require(o.out_c * o.k < 1 << 24, "an operator has too many weights")
    require(0 <= o.f <= 8 and 0 <= o.b_max < 1 << 30, "F or B_MAX is out of range")
    require(0 <= o.eps_w <= 127 and 0 <= o.eps_b <= 16, "a perturbation size is out of range")
    require(0 <= o.tid < 1 << 20, "a stream id is out of range")
    if o.abs_sum:
        frozen = o.master_off < 0 and o.bias_off < 0 and o.ms_off < 0
        require(
            frozen and o.eps_w == o.eps_b == o.f == 0 < o.abs_sum
            and o.abs_sum * max(127 - o.in_zp, o.in_zp + 128) + o.b_max < 1 << 30,
            "an accumulator can overflow",
        )  # fmt: skip
    f, top = o.f if o.master_off >= 0 else 0, 127 + o.eps_w
    widest = top * max(127 - o.in_zp, o.in_zp + 128) * o.k + o.b_max
    require(
        o.abs_sum or widest << f < 1 << 30 and top << f < 1 << 15,
        "an accumulator or a perturbed weight can overflow",
    )
    if o.flags & L.EMIT_LOGITS:
        require(o.out_h == o.out_w == 1, "logits need one output position")
