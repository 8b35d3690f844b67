"""The buffers of one call, and passes through them."""

from struct import pack_into, unpack_from

from ... import _module
from ...net import words as L
from ...net.arena import bases, in2_size, in_size, out_size, row_len, scratch
from . import buffers
from .buffers import check, get, has, held, integer, require
from .layer import check_record
from .perturb import plain
from .requant import check_scale, requantized, rsh, sat

_LOGIT_MAX = 1 << 20
_ALL = L.WEIGHTS | L.BIASES | L.MULTIPLIERS
_code = {}  # kind of operator: what runs it


class Net:
    """out: the buffers that are written."""

    def __init__(self, plan, blob=b"", state=b"", arena=b"", out=()):
        require(has(plan, 4 * L.HEADER_WORDS), "the plan is too short")
        head = self.head = unpack_from("<32i", plan, 0)
        good = head[L.MAGIC] == L.MAGIC_VALUE and head[L.MAJOR] == L.VERSION_MAJOR
        require(good, "not a plan of this version")
        n = self.n_ops = head[L.N_OPS]
        require(1 <= n <= 255 and has(plan, 4 * L.op_base(n)), "the plan is cut")
        self.classes = integer(head[L.CLASSES], 1, 1024, "the plan's classes")
        for buf in (blob, state, arena):
            has(buf, 0)
        for buf in out:
            pack_into("", buf, 0)
        self.plan = plan
        self.blob = blob
        self.state = state
        self.arena = arena

    def op(self, index):
        """The checked record of an operator; its first word is word 0 for net.arena's sizes."""
        integer(index, 0, self.n_ops - 1, "the operator")
        o = unpack_from("<48i", self.plan, 4 * L.op_base(index))
        check_record(o)
        return o

    def weighted(self, index):
        o = self.op(index)
        require(o[L.KIND] <= L.DENSE, "the operator has no weights")
        return o

    def weighted_ops(self, lo, hi):
        for i in range(lo, hi):
            o = self.op(i)
            if o[L.KIND] <= L.DENSE:
                yield o

    # checks of what a call touches

    def check_parts(self, o, frozen=0, trained=0):
        """The operator's parts in the state. Of those, bits `trained`, and of the others, bits
        `frozen`, also in the blob."""
        c = o[L.OUT_C]
        weights = c * row_len(o, 0)
        for bit, word, length, step, sources in (
            (L.WEIGHTS, L.MASTER_OFF, 2 * weights, 2, ((L.W_OFF, weights, 1),)),
            (L.BIASES, L.BIAS_OFF, 4 * c, 4, ((L.B_OFF, 4 * c, 4),)),
            (L.MULTIPLIERS, L.MS_OFF, 5 * c, 4, ((L.M_OFF, 4 * c, 4), (L.S_OFF, c, 1))),
        ):
            inside = o[word] >= 0
            if inside:
                check(self.state, o[word], length, step)
            if bit & (trained if inside else frozen):
                for source, length, step in sources:
                    check(self.blob, o[source], length, step)

    def check_tensors(self, o):
        for at, length in (_input(o), _output(o)):
            check(self.arena, at, length)

    def check_scratch(self, o):
        """The operator's scratch is in the arena, apart from its tensors and the logits."""
        scratch_at = self.head[L.SCRATCH_OFF], scratch(o, 0)
        require(self.head[L.SCRATCH_LEN] >= scratch_at[1], "SCRATCH_LEN is too small")
        check(self.arena, scratch_at[0], self.head[L.SCRATCH_LEN], 4)
        _check_apart(scratch_at, (_input(o), _output(o), self._logits()))

    def check_logits(self):
        at, length = self._logits()
        check(self.arena, at, length, 4)

    def _logits(self):
        return self.head[L.LOGITS_OFF], 4 * self.classes

    def check_run(self, index):
        """Everything that running an operator touches."""
        o = self.op(index)
        kind = o[L.KIND]
        self.check_tensors(o)
        inputs = [_input(o)]
        n = in2_size(o, 0)
        if kind == L.LUT:
            check(self.blob, o[L.W_OFF], 256)
        elif n and kind != L.CONCAT and o[L.IN2] == -1:
            check(self.blob, o[L.W_OFF], n)
        elif n:
            check(self.arena, o[L.IN2_OFF], n)
            inputs.append((o[L.IN2_OFF], n))
        if kind == L.ADD:
            check_scale(abs(o[L.MULT1]), o[L.SHIFT1], 0)
            check_scale(abs(o[L.MULT2]), o[L.SHIFT2], 0)
        if kind in (L.ADD, L.MUL, L.MEAN):
            check_scale(o[L.MULT], o[L.SHIFT], 30, 1 << 29 if kind == L.MEAN else 1 << 30)
        if kind <= L.DENSE:
            self.check_parts(o, _ALL)
            self.check_scratch(o)
            if o[L.FLAGS] & L.EMIT_LOGITS:
                last = o[L.OUT_C] == self.classes and index == self.n_ops - 1
                require(last, "only the last operator makes the logits")
                check(self.blob, o[L.L_OFF], 4 * o[L.OUT_C], 4)
                check(self.blob, o[L.LS_OFF], o[L.OUT_C])
                self.check_logits()
                _check_apart(self._logits(), (_input(o), _output(o)))
        _check_apart(_output(o), inputs)

    def check_range(self, first, last):
        integer(last, 1, self.n_ops, "last")
        for i in range(integer(first, 0, last - 1, "first"), last):
            self.check_run(i)
        if last == self.n_ops:
            o = self.op(last - 1)
            self.check_logits()
            good = out_size(o, 0) == self.classes
            require(good, "the last operator does not write one value a class")
            if not o[L.FLAGS] & L.EMIT_LOGITS:
                check_scale(self.head[L.LOGIT_MULT], self.head[L.LOGIT_SHIFT])

    # values

    def tensor(self, o):
        """The operator's input, a copy as array('b') until the next one; it may be longer."""
        return held(self.arena, o[L.IN_OFF], in_size(o, 0))

    def logits(self):
        z = unpack_from("<%di" % self.classes, self.arena, self.head[L.LOGITS_OFF])
        return [sat(v, -_LOGIT_MAX, _LOGIT_MAX) for v in z]

    def set_logit(self, c, value):
        at = self.head[L.LOGITS_OFF] + 4 * c
        pack_into("<i", self.arena, at, sat(value, -_LOGIT_MAX, _LOGIT_MAX))

    def bias(self, o, c, trained=True):
        """The bias of channel c made safe, as trained or as in the model file."""
        if trained and o[L.BIAS_OFF] >= 0:
            v = get("<i", self.state, o[L.BIAS_OFF] + 4 * c)
        else:
            v = get("<i", self.blob, o[L.B_OFF] + 4 * c)
        return sat(v, -o[L.B_MAX], o[L.B_MAX])

    def scale(self, o, c, trained=True):
        """(mult, shift) of channel c, likewise."""
        buf, mults, shifts = self.blob, o[L.M_OFF], o[L.S_OFF]
        if trained and o[L.MS_OFF] >= 0:
            buf, mults, shifts = self.state, o[L.MS_OFF], o[L.MS_OFF] + 4 * o[L.OUT_C]
        return max(0, get("<i", buf, mults + 4 * c)), sat(get("b", buf, shifts + c), -31, 30)

    def bias_step(self, o, c):
        """eb[c]"""
        mult, shift = self.scale(o, c)
        lsb = 1
        if mult >> 15:  # less than that is 0, or the file is spoilt
            lsb = sat(rsh((1 << 30) // (mult >> 15), 14 + shift), 1, 1 << 20)
        return max(1, o[L.EPS_B] * lsb >> 2)

    # passes

    def run(self, first, last, how):
        """Operators first..last-1; the class if that is all of them to the end, else 0."""
        for i in range(first, last):
            o = self.op(i)
            (_code.get(o[L.KIND]) or _load(o[L.KIND]))(self, o, i, how)
        if last < self.n_ops:
            return 0
        if not o[L.FLAGS] & L.EMIT_LOGITS:
            mult, shift = self.head[L.LOGIT_MULT], self.head[L.LOGIT_SHIFT]
            for c in range(self.classes):
                q = get("b", self.arena, o[L.OUT_OFF] + c) - o[L.OUT_ZP]
                self.set_logit(c, requantized(q, mult, shift))
        z = self.logits()
        return z.index(max(z))


def _load(kind):
    """A board imports the code of a kind of operator when a network has one."""
    home = "conv" if kind <= L.DENSE else "elementwise"
    if kind in (L.AVGPOOL, L.MAXPOOL, L.MEAN):
        home = "pool"
    _code[kind] = _module("kernel.python." + home, "run").run
    return _code[kind]


def _input(o):
    """(where, length)"""
    return o[L.IN_OFF], in_size(o, 0)


def _output(o):
    return o[L.OUT_OFF], out_size(o, 0)


def _check_apart(place, others):
    for at, length in others:
        good = place[0] + place[1] <= at or at + length <= place[0]
        require(good, "an output overlaps another tensor")


def hold(plan):
    """Takes the room for the inputs of operators before a run takes all that is free."""
    buffers.hold(max([in_size(plan, o) for o in bases(plan)]))


def input(plan, blob, arena, sample):
    net = Net(plan, blob, b"", arena, (arena,))
    count = 1
    for i in (L.NET_IN_H, L.NET_IN_W, L.NET_IN_C):
        count *= integer(net.head[i], 1, 65535, "the input shape")
    table = net.head[L.TABLE_OFF]
    check(blob, table, 256)
    check(sample, 0, count)
    at = get("<i", plan, 4 * (L.op_base(0) + L.IN_OFF))
    check(arena, at, count)
    for i in range(count):
        pack_into("b", arena, at + i, get("b", blob, table + get("B", sample, i)))
    return 0


def forward(plan, blob, state, arena, first, last, mode):
    net = Net(plan, blob, state, arena, (state, arena))
    integer(mode, 0, 1, "mode")
    net.check_range(first, last)
    return net.run(first, last, plain(mode))
