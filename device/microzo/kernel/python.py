"""The native API (SPEC.md, section 4) in Python alone: for boards that load no native code, and to
read.

Bit-identical to the C kernels, some hundred times slower, and it allocates. What Python cannot see
is not refused: the address of a buffer, the size of its items, and whether it overlaps another.
Runs on MicroPython, CircuitPython and CPython.
"""

from array import array
from struct import pack_into, unpack_from

from ..net import words as L

_MASK = 0xFFFFFFFF
_MASTER_MAX = 127 * 256
_GRAD_MAX = 1 << 30
_LOGIT_MAX = 1 << 20
_INT_MAX = (1 << 31) - 1
_EXP2 = (-1386547, 10303976, -59591327, 257940679, -744261105, 1 << 30)
_CRC = (
    0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
    0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
)  # fmt: skip

# checks


def _require(condition, message):
    if not condition:
        raise ValueError(message)


def _int(value):
    if not isinstance(value, int):
        raise TypeError("an integer is needed")
    _require(-_INT_MAX <= value <= _INT_MAX, "an integer is out of range")
    return value


def _has(buf, length):
    """Whether buf has at least `length` bytes; TypeError if it is no buffer."""
    try:
        if length:
            unpack_from("b", buf, length - 1)
        else:
            unpack_from("", buf, 0)
    except TypeError:
        raise
    except Exception:
        return False
    return True


def _check(buf, offset, length, step=1):
    """`length` bytes from `offset` are in buf, which is aligned to `step`."""
    _require(offset >= 0 and _has(buf, offset + length), "a buffer is too short")
    _require(offset % step == 0, "an offset is not aligned")


def _check_out(buf, length=0):
    """buf is writable and holds `length` bytes."""
    pack_into("", buf, 0)
    _check(buf, 0, length)


def _bytes_in(buf):
    """Length of a buffer in bytes (MicroPython's memoryview does not tell)."""
    n = len(buf)
    for size in (8, 4, 2):
        if n and _has(buf, n * size):
            return n * size
    return n


def _sat(v, low, high):
    return low if v < low else high if v > high else v


# integers in and out of buffers


def _get(form, buf, offset):
    return unpack_from(form, buf, offset)[0]


def _int8s(buf, offset, count):
    """A copy as array('b')."""
    return array("b", unpack_from("<%db" % count, buf, offset))


# arithmetic


def _rsh(v, n):
    return (v + (1 << (n - 1))) >> n if n > 0 else v << -n


def _rdiv(a, b):
    return (2 * a + b) // (2 * b)


def _isqrt(v):
    root = 0
    bit = 1 << 62
    while bit:
        if v >= root + bit:
            v -= root + bit
            root = (root >> 1) + bit
        else:
            root >>= 1
        bit >>= 2
    return root


def _requant(acc, mult, shift):
    x = _sat(acc << shift, -_INT_MAX - 1, _INT_MAX) if shift > 0 else acc
    x = (x * mult + (1 << 30)) >> 31
    if shift >= 0:
        return x
    mask = (1 << -shift) - 1
    return (x >> -shift) + (1 if (x & mask) > (mask >> 1) + (1 if x < 0 else 0) else 0)


def _once(acc, mult, shift):
    p = acc * mult
    n = 31 - shift
    if n > 62:
        return 0
    return _sat((p + (1 << n - 1) - (1 if p < 0 else 0)) >> n, -_INT_MAX - 1, _INT_MAX)


def _legal(mult, shift, most=30, least=1 << 30):
    return (mult == 0 or mult >= least) and -31 <= shift <= most


# random numbers


def _mix(x):
    x ^= x >> 16
    x = x * 0x7FEB352D & _MASK
    x ^= x >> 15
    x = x * 0x846CA68B & _MASK
    return x ^ x >> 16


def _keys(seed, t):
    return _mix((seed + 0x9E3779B9 * (t + 1)) & _MASK), _mix(
        (~seed + 0x85EBCA6B * (t + 1)) & _MASK
    )


def _word(keys, n):
    x = (n + keys[0]) & _MASK
    x ^= x >> 16
    x = (x * 0x7FEB352D + keys[1]) & _MASK
    x ^= x >> 15
    x = x * 0x846CA68B & _MASK
    return x ^ x >> 16


def _sign_row(keys, row, k):
    """array('b') of k values +1 and -1."""
    out = array("b", bytes(k))
    at = row * ((k + 31) >> 5)
    word = 0
    for r in range(k):
        if r & 31 == 0:
            word = _word(keys, at + (r >> 5))
        out[r] = 1 - 2 * (word >> ((r & 31) >> 2) + 8 * (r & 3) & 1)
    return out


# a plan and its operators


class _Net:
    """The buffers of one call."""

    def __init__(self, plan, blob=b"", state=b"", arena=b""):
        _require(_has(plan, 4 * L.HEADER_WORDS), "the plan is too short")
        head = self.head = unpack_from("<32i", plan, 0)
        _require(
            head[L.MAGIC] == L.MAGIC_VALUE and head[L.MAJOR] == L.VERSION_MAJOR,
            "not a plan of this version",
        )
        n = self.n_ops = head[L.N_OPS]
        _require(1 <= n <= 255 and _has(plan, 4 * L.op_base(n)), "the plan is cut")
        self.classes = head[L.CLASSES]
        _require(1 <= self.classes <= 1024, "classes out of range")
        _has(blob, 0)
        _has(state, 0)
        _has(arena, 0)
        self.plan = plan
        self.blob = blob
        self.state = state
        self.arena = arena

    def op(self, index):
        _require(0 <= index < self.n_ops, "no such operator")
        o = unpack_from("<48i", self.plan, 4 * L.op_base(index))
        _check_shape(o)
        return o

    def weighted(self, index):
        o = self.op(index)
        _require(o[L.KIND] <= L.DENSE, "the operator has no weights")
        return o

    def check_trained(self, o):
        """The operator's parts in the state."""
        c = o[L.OUT_C]
        if o[L.MASTER_OFF] >= 0:
            _check(self.state, o[L.MASTER_OFF], 2 * c * _row_len(o), 2)
        if o[L.BIAS_OFF] >= 0:
            _check(self.state, o[L.BIAS_OFF], 4 * c, 4)
        if o[L.MS_OFF] >= 0:
            _check(self.state, o[L.MS_OFF], 5 * c, 4)

    def check_parameters(self, o):
        """What a forward pass or an update reads."""
        self.check_trained(o)
        c = o[L.OUT_C]
        if o[L.MASTER_OFF] < 0:
            _check(self.blob, o[L.W_OFF], c * _row_len(o))
        if o[L.BIAS_OFF] < 0:
            _check(self.blob, o[L.B_OFF], 4 * c, 4)

    def check_scratch(self, o):
        """The operator's scratch is in the arena, apart from its tensors and the logits."""
        h = self.head
        at = h[L.SCRATCH_OFF]
        need = _scratch(o)
        _require(h[L.SCRATCH_LEN] >= need, "SCRATCH_LEN is too small")
        _check(self.arena, at, h[L.SCRATCH_LEN], 4)
        good = _apart(at, need, o[L.IN_OFF], _in_size(o)) and _apart(
            at, need, o[L.OUT_OFF], _out_size(o)
        )
        _require(
            good and _apart(at, need, h[L.LOGITS_OFF], 4 * self.classes),
            "the scratch overlaps a tensor",
        )

    def check_scale(self, o):
        if o[L.MS_OFF] < 0:
            _check(self.blob, o[L.M_OFF], 4 * o[L.OUT_C], 4)
            _check(self.blob, o[L.S_OFF], o[L.OUT_C])

    def check_run(self, index):
        """Everything that running an operator touches."""
        o = self.op(index)
        _check(self.arena, o[L.IN_OFF], _in_size(o))
        at = o[L.OUT_OFF]
        _check(self.arena, at, _out_size(o))
        apart = _apart(at, _out_size(o), o[L.IN_OFF], _in_size(o))
        kind = o[L.KIND]
        if kind in (L.ADD, L.MUL, L.CONCAT):
            constant = o[L.IN2] == -1 and kind != L.CONCAT
            where = (self.blob, o[L.W_OFF]) if constant else (self.arena, o[L.IN2_OFF])
            _check(where[0], where[1], _in2_size(o))
            apart = apart and (constant or _apart(at, _out_size(o), where[1], _in2_size(o)))
        elif kind == L.LUT:
            _check(self.blob, o[L.W_OFF], 256)
        legal = True
        if kind == L.ADD:
            legal = _legal(abs(o[L.MULT1]), o[L.SHIFT1], 0)
            legal = legal and _legal(abs(o[L.MULT2]), o[L.SHIFT2], 0)
        if kind in (L.ADD, L.MUL, L.MEAN):
            least = 1 << 29 if kind == L.MEAN else 1 << 30
            legal = legal and _legal(o[L.MULT], o[L.SHIFT], 30, least)
        _require(legal, "a multiplier or shift is out of range")
        if kind <= L.DENSE:
            self.check_parameters(o)
            self.check_scale(o)
            self.check_scratch(o)
            if o[L.FLAGS] & L.EMIT_LOGITS:
                last = o[L.OUT_C] == self.classes and index == self.n_ops - 1
                _require(last, "only the last operator makes the logits")
                _check(self.blob, o[L.L_OFF], 4 * o[L.OUT_C], 4)
                _check(self.blob, o[L.LS_OFF], o[L.OUT_C])
                self.check_logits()
                at = self.head[L.LOGITS_OFF]
                apart = apart and _apart(at, 4 * self.classes, o[L.IN_OFF], _in_size(o))
                apart = apart and _apart(at, 4 * self.classes, o[L.OUT_OFF], _out_size(o))
        _require(apart, "an operator's output overlaps another tensor")

    def check_range(self, first, last):
        _require(
            0 <= first < last <= self.n_ops,
            "first and last must satisfy 0 <= first < last <= N_OPS",
        )
        for i in range(first, last):
            self.check_run(i)
        if last == self.n_ops:
            o = self.op(last - 1)
            self.check_logits()
            _require(
                _out_size(o) == self.classes, "the last operator does not write one value a class"
            )
            if not o[L.FLAGS] & L.EMIT_LOGITS:
                _require(
                    _legal(self.head[L.LOGIT_MULT], self.head[L.LOGIT_SHIFT]),
                    "the logits' multiplier is out of range",
                )

    def check_logits(self):
        _check(self.arena, self.head[L.LOGITS_OFF], 4 * self.classes, 4)

    def logits(self):
        z = unpack_from("<%di" % self.classes, self.arena, self.head[L.LOGITS_OFF])
        return [_sat(v, -_LOGIT_MAX, _LOGIT_MAX) for v in z]

    def set_logit(self, c, value):
        pack_into(
            "<i", self.arena, self.head[L.LOGITS_OFF] + 4 * c, _sat(value, -_LOGIT_MAX, _LOGIT_MAX)
        )

    # parameters of channel c

    def bias(self, o, c):
        if o[L.BIAS_OFF] >= 0:
            bias = _get("<i", self.state, o[L.BIAS_OFF] + 4 * c)
        else:
            bias = _get("<i", self.blob, o[L.B_OFF] + 4 * c)
        return _sat(bias, -o[L.B_MAX], o[L.B_MAX])

    def scale(self, o, c):
        """(mult, shift), made safe"""
        at = o[L.MS_OFF]
        if at >= 0:
            mult = _get("<i", self.state, at + 4 * c)
            shift = _get("b", self.state, at + 4 * o[L.OUT_C] + c)
        else:
            mult = _get("<i", self.blob, o[L.M_OFF] + 4 * c)
            shift = _get("b", self.blob, o[L.S_OFF] + c)
        return max(0, mult), _sat(shift, -31, 30)

    def file(self, o, c):
        """(bias, mult, shift) of the model file, made safe"""
        bias = _get("<i", self.blob, o[L.B_OFF] + 4 * c)
        mult = _get("<i", self.blob, o[L.M_OFF] + 4 * c)
        shift = _get("b", self.blob, o[L.S_OFF] + c)
        return _sat(bias, -o[L.B_MAX], o[L.B_MAX]), max(0, mult), _sat(shift, -31, 30)

    def bias_step(self, o, c):
        """eb[c]"""
        mult, shift = self.scale(o, c)
        lsb = 1
        if mult >> 15:  # less than that is 0, or the file is spoilt
            lsb = _sat(_rsh((1 << 30) // (mult >> 15), 14 + shift), 1, 1 << 20)
        return max(1, o[L.EPS_B] * lsb >> 2)


def _row_len(o):
    if o[L.KIND] == L.CONV:
        return o[L.K_H] * o[L.K_W] * o[L.IN_C]
    return o[L.K_H] * o[L.K_W] if o[L.KIND] == L.DWCONV else o[L.IN_C]


def _in_size(o):
    return o[L.IN_H] * o[L.IN_W] * o[L.IN_C]


def _out_size(o):
    return o[L.OUT_H] * o[L.OUT_W] * o[L.OUT_C]


def _in2_size(o):
    if o[L.KIND] == L.CONCAT:
        return _out_size(o) - _in_size(o)
    positions = 1 if o[L.FLAGS] & L.SPREAD_HW else o[L.IN_H] * o[L.IN_W]
    return positions * (1 if o[L.FLAGS] & L.SPREAD_C else o[L.IN_C])


def _fits(o):
    """The bounds of SPEC.md, 1.4."""
    f = o[L.F] if o[L.MASTER_OFF] >= 0 else 0
    top = 127 + o[L.EPS_W]
    swing = max(127 - o[L.IN_ZP], o[L.IN_ZP] + 128)
    if o[L.ABS_SUM]:
        frozen = o[L.MASTER_OFF] < 0 and o[L.BIAS_OFF] < 0 and o[L.MS_OFF] < 0
        frozen = frozen and o[L.EPS_W] == o[L.EPS_B] == o[L.F] == 0 < o[L.ABS_SUM]
        return frozen and o[L.ABS_SUM] * swing + o[L.B_MAX] < 1 << 30
    return (top * swing * _row_len(o) + o[L.B_MAX]) << f < 1 << 30 and top << f < 1 << 15


def _scratch(o):
    kind = o[L.KIND]
    if kind == L.CONV:
        return max(22 * (_row_len(o) + 3 & ~3) + 128, 3072)
    if kind == L.DENSE:
        return 12 * (_row_len(o) + 3 & ~3) + 128
    if kind == L.DWCONV:
        return 32 * _row_len(o) + 8 * (o[L.IN_W] + o[L.P_L] + o[L.P_R]) * o[L.K_H] + 128
    return 0


def _apart(a, length, b, other):
    return a + length <= b or b + other <= a


def _dilation(o, i):
    """Image cells from a kernel cell to the next; i: 0 down, 1 to the right."""
    return max(o[L.DIL_H + i], 1) if o[L.KIND] <= L.DWCONV else 1


def _check_shape(o):
    kind = o[L.KIND]
    good = L.CONV <= kind <= L.LUT
    known = L.EMIT_LOGITS | L.ROUND_ONCE if kind <= L.DENSE else 0
    if kind == L.ADD or kind == L.MUL:
        known = L.SPREAD_HW | L.SPREAD_C
    good = good and o[L.FLAGS] & ~known == 0
    for i in range(L.IN_H, L.OUT_C + 1):
        good = good and 1 <= o[i] <= 65535
    for i in range(L.K_H, L.S_W + 1):
        good = good and 1 <= o[i] <= 65535
    for i in range(L.P_T, L.P_R + 1):
        good = good and (-65535 if kind == L.PAD else 0) <= o[i] <= 65535
    if kind <= L.DENSE:
        for i in (L.DIL_H, L.DIL_W):
            good = good and 0 <= o[i] <= 65535
    if kind == L.DWCONV:
        good = good and 8 * (o[L.IN_W] + o[L.P_L] + o[L.P_R]) * o[L.K_H] < 1 << 24
    elif kind > L.DENSE:
        good = good and o[L.K_H] * o[L.K_W] < 1 << 22
    for i in range(L.IN_ZP, L.ACT_MAX + 1):
        good = good and -128 <= o[i] <= 127
    good = (
        good and _in_size(o) < 1 << 24 and _out_size(o) < 1 << 24 and o[L.ACT_MIN] <= o[L.ACT_MAX]
    )
    _require(good, "an operator's shape or range is wrong")
    for i in (0, 1):
        before = o[L.P_T + 2 * i]
        after = o[L.P_B + 2 * i]
        k = o[L.K_H + i]
        room = o[L.IN_H + i] + before + after - (k - 1) * _dilation(o, i) - 1
        if kind != L.CONCAT:
            good = good and room >= 0 and o[L.OUT_H + i] == room // o[L.S_H + i] + 1
        if kind == L.AVGPOOL or kind == L.MAXPOOL:
            good = good and max(before, after) < k
        if kind == L.DENSE or kind >= L.ADD and kind != L.MEAN:
            good = good and k == 1 and o[L.S_H + i] == 1
        if kind == L.DENSE or kind == L.ADD or kind > L.PAD:
            good = good and before == after == 0
        if kind == L.DENSE:
            good = good and o[L.IN_H + i] == 1
    if kind == L.DWCONV:
        good = good and o[L.OUT_C] % o[L.IN_C] == 0
    if kind == L.CONCAT:
        grown = [o[L.OUT_H + i] - o[L.IN_H + i] for i in range(3)]
        good = good and min(grown) == 0 and max(grown) > 0 and sum(grown) == max(grown)
    elif kind > L.DENSE:
        good = good and o[L.OUT_C] == o[L.IN_C]
    else:
        good = good and o[L.OUT_C] * _row_len(o) < 1 << 24
        good = good and 0 <= o[L.F] <= 8 and 0 <= o[L.B_MAX] < 1 << 30 and 0 <= o[L.TID] < 1 << 20
        good = good and 0 <= o[L.EPS_W] <= 127 and 0 <= o[L.EPS_B] <= 16 and _fits(o)
        if o[L.FLAGS] & L.EMIT_LOGITS:
            good = good and o[L.OUT_H] == o[L.OUT_W] == 1
    _require(good, "an operator's output size, kernel or padding is wrong")


# operators


def _renormalized(mult, shift):
    """A multiplier that left [2^30, 2^31) by at most a factor of two, and its shift."""
    if mult >= 1 << 31:
        mult >>= 1
        shift += 1
    elif 0 < mult < 1 << 30:
        mult <<= 1
        shift -= 1
    return mult, _sat(shift, -31, 30)


class _Pass:
    """What one pass reads: precision, and the perturbation of lo..hi-1 (sign 0: none)."""

    def __init__(self, wide=0, sign=0, seed=0, what=0, lo=0, hi=0, eps_shift=0):
        self.wide = wide
        self.sign = sign
        self.seed = seed
        self.what = what
        self.lo = lo
        self.hi = hi
        self.eps_shift = eps_shift

    def fraction(self, o):
        return o[L.F] if self.wide and o[L.MASTER_OFF] >= 0 else 0

    def perturbs(self, o, index, what, offset):
        return self.sign and self.lo <= index < self.hi and self.what & what and o[offset] >= 0

    def scale(self, net, o, index, c):
        """(mult, shift) of channel c, perturbed by 1/256 of it."""
        mult, shift = net.scale(o, c)
        if not self.perturbs(o, index, L.MULTIPLIERS, L.MS_OFF):
            return mult, shift
        sign = _sign_row(_keys(self.seed, 4 * o[L.TID] + 3), 0, o[L.OUT_C])[c]
        return _renormalized(mult + self.sign * sign * (mult >> 8), shift)

    def rows(self, net, o, index):
        """Yields (channel, weights, bias) for every output channel."""
        k = _row_len(o)
        f = self.fraction(o)
        eps = step = 0
        keys = bias_signs = None
        if self.perturbs(o, index, L.WEIGHTS, L.MASTER_OFF):
            eps = self.sign * ((o[L.EPS_W] << f) >> self.eps_shift if self.wide else o[L.EPS_W])
            keys = _keys(self.seed, 4 * o[L.TID])
        if self.perturbs(o, index, L.BIASES, L.BIAS_OFF):
            bias_signs = _sign_row(_keys(self.seed, 4 * o[L.TID] + 1), 0, o[L.OUT_C])
        for c in range(o[L.OUT_C]):
            if o[L.MASTER_OFF] < 0:
                w = unpack_from("<%db" % k, net.blob, o[L.W_OFF] + c * k)
            else:
                w = unpack_from("<%dh" % k, net.state, o[L.MASTER_OFF] + 2 * c * k)
                w = [v >> 8 - f for v in w] if self.wide else [v + 128 >> 8 for v in w]
            if eps:
                signs = _sign_row(keys, c, k)
                for r in range(k):
                    w[r] += eps * signs[r]
            if bias_signs:
                step = self.sign * net.bias_step(o, c) * bias_signs[c]
            yield c, w, net.bias(o, c) + step << f


def _window(o, oy, ox):
    """Kernel rows y0..y1-1 and columns x0..x1-1 inside the image, and its top left corner."""
    top = oy * o[L.S_H] - o[L.P_T]
    left = ox * o[L.S_W] - o[L.P_L]
    down = _dilation(o, 0)
    right = _dilation(o, 1)
    y1 = min(o[L.K_H], (o[L.IN_H] - top + down - 1) // down)
    x1 = min(o[L.K_W], (o[L.IN_W] - left + right - 1) // right)
    return max(0, -(top // down)), y1, max(0, -(left // right)), x1, top, left


def _runs(o, oy, ox):
    """(first kernel cell, cells, first input value) of every run of cells that lie side by side
    inside the image."""
    y0, y1, x0, x1, top, left = _window(o, oy, ox)
    down = _dilation(o, 0)
    right = _dilation(o, 1)
    run = x1 - x0 if right == 1 else 1
    for ky in range(y0, y1):
        row = (top + ky * down) * o[L.IN_W] + left
        for kx in range(x0, x1, max(run, 1)):
            yield ky * o[L.K_W] + kx, run, (row + kx * right) * o[L.IN_C]


def _sum(o, x, c, w, bias, oy, ox):
    """Accumulator of channel c at one output position; x array('b') of the input."""
    zp = o[L.IN_ZP]
    channels = o[L.IN_C]
    if o[L.KIND] == L.DENSE:
        for i in range(channels):
            bias += w[i] * (x[i] - zp)
        return bias
    depthwise = o[L.KIND] == L.DWCONV
    source = c // (o[L.OUT_C] // channels) if depthwise else 0
    for cell, n, at in _runs(o, oy, ox):
        if depthwise:
            at += source
            for i in range(cell, cell + n):
                bias += w[i] * (x[at] - zp)
                at += channels
        else:
            for i in range(cell * channels, (cell + n) * channels):
                bias += w[i] * (x[at] - zp)
                at += 1
    return bias


def _run_weighted(net, o, index, how):
    x = _int8s(net.arena, o[L.IN_OFF], _in_size(o))
    f = how.fraction(o)
    scaled = _once if o[L.FLAGS] & L.ROUND_ONCE else _requant
    for c, w, bias in how.rows(net, o, index):
        mult, shift = how.scale(net, o, index, c)
        at = o[L.OUT_OFF] + c
        for oy in range(o[L.OUT_H]):
            for ox in range(o[L.OUT_W]):
                acc = _sum(o, x, c, w, bias, oy, ox)
                v = scaled(acc, mult, shift - f) + o[L.OUT_ZP]
                pack_into("b", net.arena, at, _sat(v, o[L.ACT_MIN], o[L.ACT_MAX]))
                at += o[L.OUT_C]
        if o[L.FLAGS] & L.EMIT_LOGITS:
            mult = _get("<i", net.blob, o[L.L_OFF] + 4 * c)
            net.set_logit(c, _requant(acc, mult, _get("b", net.blob, o[L.LS_OFF] + c) - f))


def _pool(o, x, oy, ox, c):
    y0, y1, x0, x1, top, left = _window(o, oy, ox)
    best = -128
    total = 0
    for ky in range(y0, y1):
        for kx in range(x0, x1):
            v = x[((top + ky) * o[L.IN_W] + left + kx) * o[L.IN_C] + c]
            best = max(best, v)
            total += v
    if o[L.KIND] == L.MAXPOOL:
        return best
    n = (y1 - y0) * (x1 - x0)
    if o[L.KIND] == L.MEAN:
        return _requant(total - n * o[L.IN_ZP], o[L.MULT], o[L.SHIFT]) + o[L.OUT_ZP]
    v = (2 * abs(total) + n) // (2 * n)
    return v if total > 0 else -v


def _second(net, o):
    """The second operand, a copy as array('b')."""
    if o[L.IN2] == -1 and o[L.KIND] != L.CONCAT:
        return _int8s(net.blob, o[L.W_OFF], _in2_size(o))
    return _int8s(net.arena, o[L.IN2_OFF], _in2_size(o))


def _run_binary(net, o):
    """ADD, MUL: the second operand may be spread over positions, channels or both."""
    x = _int8s(net.arena, o[L.IN_OFF], _in_size(o))
    x2 = _second(net, o)
    channels = o[L.IN_C]
    for i in range(len(x)):
        j = i
        if o[L.FLAGS] & L.SPREAD_C:
            j = 0 if o[L.FLAGS] & L.SPREAD_HW else i // channels
        elif o[L.FLAGS] & L.SPREAD_HW:
            j = i % channels
        a = x[i] - o[L.IN_ZP]
        b = x2[j] - o[L.IN2_ZP]
        if o[L.KIND] == L.MUL:
            v = a * b
        else:
            v = _requant(a << 20, o[L.MULT1], o[L.SHIFT1])
            v += _requant(b << 20, o[L.MULT2], o[L.SHIFT2])
        v = _requant(v, o[L.MULT], o[L.SHIFT]) + o[L.OUT_ZP]
        pack_into("b", net.arena, o[L.OUT_OFF] + i, _sat(v, o[L.ACT_MIN], o[L.ACT_MAX]))


def _run_concat(net, o):
    rows = 1
    if o[L.OUT_H] == o[L.IN_H]:
        rows = o[L.IN_H] * (1 if o[L.OUT_W] > o[L.IN_W] else o[L.IN_W])
    at = o[L.OUT_OFF]
    parts = _int8s(net.arena, o[L.IN_OFF], _in_size(o)), _second(net, o)
    for row in range(rows):
        for part in parts:
            n = len(part) // rows
            pack_into("%db" % n, net.arena, at, *part[row * n : row * n + n])
            at += n


def _run_lut(net, o):
    for i in range(_in_size(o)):
        x = _get("b", net.arena, o[L.IN_OFF] + i)
        pack_into("b", net.arena, o[L.OUT_OFF] + i, _get("b", net.blob, o[L.W_OFF] + 128 + x))


def _run_plain(net, o):
    """An operator without weights"""
    kind = o[L.KIND]
    if kind == L.ADD or kind == L.MUL:
        return _run_binary(net, o)
    if kind == L.CONCAT:
        return _run_concat(net, o)
    if kind == L.LUT:
        return _run_lut(net, o)
    x = _int8s(net.arena, o[L.IN_OFF], _in_size(o))
    at = o[L.OUT_OFF]
    for oy in range(o[L.OUT_H]):
        for ox in range(o[L.OUT_W]):
            for c in range(o[L.OUT_C]):
                if o[L.KIND] == L.PAD:
                    y0, y1, x0, x1, top, left = _window(o, oy, ox)
                    inside = y0 < y1 and x0 < x1
                    v = x[(top * o[L.IN_W] + left) * o[L.IN_C] + c] if inside else o[L.IN_ZP]
                else:
                    v = _sat(_pool(o, x, oy, ox, c), o[L.ACT_MIN], o[L.ACT_MAX])
                pack_into("b", net.arena, at, v)
                at += 1


def _forward(net, first, last, how):
    for i in range(first, last):
        o = net.op(i)
        if o[L.KIND] <= L.DENSE:
            _run_weighted(net, o, i, how)
        else:
            _run_plain(net, o)
    if last < net.n_ops:
        return 0
    if not o[L.FLAGS] & L.EMIT_LOGITS:
        for c in range(net.classes):
            q = _get("b", net.arena, o[L.OUT_OFF] + c) - o[L.OUT_ZP]
            net.set_logit(c, _requant(q, net.head[L.LOGIT_MULT], net.head[L.LOGIT_SHIFT]))
    z = net.logits()
    best = 0
    for c in range(1, net.classes):
        if z[c] > z[best]:
            best = c
    return best


# loss


def _exponential(d):
    """2^20 * exp(-d / 4096)"""
    t = d * 94548 >> 12
    x = (t & 0xFFFF) << 14
    p = 123425
    for coefficient in _EXP2:
        p = coefficient + (p * x >> 30)
    return p >> 10 >> (t >> 16) if t >> 16 <= 20 else 0


def _cross_entropy(z, label, err):
    """Loss Q12; fills err (a list) with Q15 values unless it is None."""
    top = max(z)
    e = [_exponential(top - v) for v in z]
    total = sum(e)
    if err is not None:
        for i in range(len(z)):
            err[i] = (e[i] << 11) // (total >> 4) - (32768 if i == label else 0)
    k = 20
    while total >> k + 1:
        k += 1
    v = total << 30 - k
    frac = 0
    for _ in range(16):
        v = v * v >> 30
        frac <<= 1
        if v >> 31:
            frac += 1
            v >>= 1
    return top - z[label] + ((k - 20 << 16 | frac) * 45426 >> 20)


# the API


def version():
    return 100 * L.VERSION_MAJOR + L.VERSION_MINOR


def input(plan, blob, arena, sample):
    net = _Net(plan, blob, b"", arena)
    _check_out(arena)
    h = net.head
    for i in (L.NET_IN_H, L.NET_IN_W, L.NET_IN_C):
        _require(1 <= h[i] <= 65535, "the input shape is out of range")
    count = h[L.NET_IN_H] * h[L.NET_IN_W] * h[L.NET_IN_C]
    _check(blob, h[L.TABLE_OFF], 256)
    _check(sample, 0, count)
    at = _get("<i", plan, 4 * (L.op_base(0) + L.IN_OFF))
    _check(arena, at, count)
    for i in range(count):
        pack_into("b", arena, at + i, _get("b", blob, h[L.TABLE_OFF] + _get("B", sample, i)))
    return 0


def forward(plan, blob, state, arena, first, last, mode):
    net = _Net(plan, blob, state, arena)
    _check_out(state)
    _check_out(arena)
    _require(_int(mode) in (0, 1), "mode must be 0 or 1")
    net.check_range(_int(first), _int(last))
    return _forward(net, first, last, _Pass(mode))


def loss(plan, arena, label, err):
    net = _Net(plan, b"", b"", arena)
    _require(0 <= _int(label) < net.classes, "the label is out of range")
    net.check_logits()
    _check_out(err)
    wanted = _has(err, 1)
    if wanted:
        _check(err, 0, 4 * net.classes)
    values = [0] * net.classes if wanted else None
    result = _cross_entropy(net.logits(), label, values)
    if wanted:
        pack_into("<%di" % net.classes, err, 0, *values)
    return result


def _check_span(net, lo, hi, what):
    _require(0 <= lo <= hi <= net.n_ops, "lo and hi must satisfy 0 <= lo <= hi <= N_OPS")
    _require(0 <= what <= 7, "what must be 0..7")


def _check_seed(seed):
    _require(0 <= _int(seed) < 1 << 30, "a seed must be in 0..2^30-1")


def probe(plan, blob, state, arena, params, out):
    net = _Net(plan, blob, state, arena)
    _check_out(state)
    _check_out(arena)
    _check(params, 0, 32)
    first, seed, label, mode, what, lo, hi, eps_shift = unpack_from("<8i", params, 0)
    _check_out(out, 4 * (L.KEPT + 8) if mode & 4 else 8)
    _check_seed(seed)
    _check_span(net, lo, hi, what)
    _require(0 <= label < net.classes, "the label is out of range")
    _require(0 <= mode <= 7, "mode must be 0..7")
    _require(0 <= eps_shift <= 31, "eps_shift must be 0..31")
    net.check_range(first, net.n_ops)
    losses = [0, 0]
    for i in range(1 if mode & 2 else 2):
        _forward(net, first, net.n_ops, _Pass(mode & 1, 1 - 2 * i, seed, what, lo, hi, eps_shift))
        losses[i] = _cross_entropy(net.logits(), label, None)
    pack_into("<2i", out, 0, *losses)
    return 0


def update(plan, blob, state, arena, params, pairs):
    net = _Net(plan, blob, state, arena)
    _check_out(state)
    _check_out(arena)
    _check(params, 0, 20)
    lo, hi, what, n, shift = unpack_from("<5i", params, 0)
    _check_span(net, lo, hi, what)
    _require(0 <= n <= 64, "n must be 0..64")
    _require(0 <= shift <= 31, "shift must be 0..31")
    _check(pairs, 0, 8 * n)
    pairs = [unpack_from("<2i", pairs, 8 * j) for j in range(n)]
    for seed, coef in pairs:
        _check_seed(seed)
        _require(abs(coef) <= 1 << 20, "a coefficient is out of range")
    for i in range(lo, hi):
        o = net.op(i)
        if o[L.KIND] <= L.DENSE:
            net.check_trained(o)
            net.check_scale(o)
    for i in range(lo, hi):
        o = net.op(i)
        if o[L.KIND] <= L.DENSE:
            if what & L.WEIGHTS and o[L.MASTER_OFF] >= 0:
                _update_weights(net, o, shift, pairs)
            if what & L.BIASES and o[L.BIAS_OFF] >= 0:
                _update_biases(net, o, shift, pairs)
            if what & L.MULTIPLIERS and o[L.MS_OFF] >= 0:
                _update_scales(net, o, shift, pairs)
    return 0


def _update_weights(net, o, shift, pairs):
    k = _row_len(o)
    keys = [_keys(seed, 4 * o[L.TID]) for seed, _ in pairs]
    for c in range(o[L.OUT_C]):
        g = [0] * k
        for j in range(len(pairs)):
            signs = _sign_row(keys[j], c, k)
            for r in range(k):
                g[r] += pairs[j][1] * signs[r]
        for r in range(k):
            _move_master(net, o, c * k + r, _rsh(g[r] * o[L.EPS_W], shift))


def _channel_sums(o, pairs, stream):
    """Sums of coefficient * sign of one row of channels."""
    g = [0] * o[L.OUT_C]
    for seed, coef in pairs:
        signs = _sign_row(_keys(seed, 4 * o[L.TID] + stream), 0, o[L.OUT_C])
        for c in range(o[L.OUT_C]):
            g[c] += coef * signs[c]
    return g


def _update_scales(net, o, shift, pairs):
    g = _channel_sums(o, pairs, 3)
    for c in range(o[L.OUT_C]):
        mult, exponent = net.scale(o, c)
        v = _sat(mult - _rsh(g[c] * (mult >> 8), shift + 8), mult >> 1, 2 * mult)
        mult, exponent = _renormalized(v, exponent)
        pack_into("<i", net.state, o[L.MS_OFF] + 4 * c, mult)
        pack_into("b", net.state, o[L.MS_OFF] + 4 * o[L.OUT_C] + c, exponent)


def _update_biases(net, o, shift, pairs):
    g = _channel_sums(o, pairs, 1)
    for c in range(o[L.OUT_C]):
        _move_bias(net, o, c, _rsh(g[c] * net.bias_step(o, c), shift + 8))


def _move_master(net, o, i, step):
    at = o[L.MASTER_OFF] + 2 * i
    pack_into(
        "<h", net.state, at, _sat(_get("<h", net.state, at) - step, -_MASTER_MAX, _MASTER_MAX)
    )


def _move_bias(net, o, c, step):
    at = o[L.BIAS_OFF] + 4 * c
    pack_into("<i", net.state, at, _sat(_get("<i", net.state, at) - step, -o[L.B_MAX], o[L.B_MAX]))


def init_state(plan, blob, state):
    net = _Net(plan, blob, state)
    _check_out(state)
    for i in range(net.n_ops):
        o = net.op(i)
        if o[L.KIND] > L.DENSE:
            continue
        c = o[L.OUT_C]
        net.check_trained(o)
        if o[L.MASTER_OFF] >= 0:
            _check(blob, o[L.W_OFF], c * _row_len(o))
        if o[L.BIAS_OFF] >= 0:
            _check(blob, o[L.B_OFF], 4 * c, 4)
        if o[L.MS_OFF] >= 0:
            _check(blob, o[L.M_OFF], 4 * c, 4)
            _check(blob, o[L.S_OFF], c)
    for i in range(net.n_ops):
        o = net.op(i)
        if o[L.KIND] <= L.DENSE:
            _init_op(net, o)
    return 0


def _init_op(net, o):
    blob = net.blob
    state = net.state
    c = o[L.OUT_C]
    if o[L.MASTER_OFF] >= 0:
        for i in range(c * _row_len(o)):
            pack_into("<h", state, o[L.MASTER_OFF] + 2 * i, _get("b", blob, o[L.W_OFF] + i) << 8)
    if o[L.BIAS_OFF] >= 0:
        pack_into("<%di" % c, state, o[L.BIAS_OFF], *unpack_from("<%di" % c, blob, o[L.B_OFF]))
    if o[L.MS_OFF] >= 0:
        pack_into("<%di" % c, state, o[L.MS_OFF], *unpack_from("<%di" % c, blob, o[L.M_OFF]))
        pack_into(
            "<%db" % c, state, o[L.MS_OFF] + 4 * c, *unpack_from("<%db" % c, blob, o[L.S_OFF])
        )


def stats(plan, blob, state, arena, op, s, sums):
    net = _Net(plan, blob, state, arena)
    _check_out(state)
    _check_out(arena)
    o = net.weighted(_int(op))
    _require(0 <= _int(s) <= 31, "s must be 0..31")
    _check_out(sums, 16 * o[L.OUT_C])
    _check(arena, o[L.IN_OFF], _in_size(o))
    net.check_parameters(o)
    net.check_scratch(o)
    x = _int8s(arena, o[L.IN_OFF], _in_size(o))
    for c, w, bias in _Pass().rows(net, o, op):
        s1 = s2 = 0
        for oy in range(o[L.OUT_H]):
            for ox in range(o[L.OUT_W]):
                acc = _sum(o, x, c, w, bias, oy, ox) >> s
                s1 += acc
                s2 += acc * acc
        _add_int64(sums, 8 * c, s1)
        _add_int64(sums, 8 * (o[L.OUT_C] + c), s2)
    return 0


def _add_int64(buf, at, v):
    """Adds modulo 2^64."""
    v = (_get("<q", buf, at) + v + (1 << 63) & (1 << 64) - 1) - (1 << 63)
    pack_into("<q", buf, at, v)


def stats_finish(n, s, sums, out):
    _require(_int(n) >= 1, "n must be at least 1")
    _require(0 <= _int(s) <= 31, "s must be 0..31")
    _has(sums, 0)
    length = _bytes_in(sums)
    _require(length % 16 == 0, "sums must hold two int64 a channel")
    channels = length // 16
    _check_out(out, 8 * channels)
    for c in range(channels):
        s1 = _get("<q", sums, 8 * c)
        s2 = _get("<q", sums, 8 * (channels + c))
        _require(
            abs(s1) // n <= 1 << 30 and 0 <= s2 <= 1 << 62, "sums of n accumulators are smaller"
        )
    for c in range(channels):
        s1 = _get("<q", sums, 8 * c)
        q, r = divmod(s1, n)
        mean = _sat(_rdiv(s1, n) << s, -_INT_MAX - 1, _INT_MAX)
        var = max(0, (_get("<q", sums, 8 * (channels + c)) - 2 * q * r) // n - q * q)
        sd = min(_isqrt(min(var, 1 << 54) << 8) << s, _INT_MAX)
        pack_into("<i", out, 4 * c, mean)
        pack_into("<i", out, 4 * (channels + c), sd)
    return 0


def realign(plan, blob, state, op, stats, alpha, out):
    net = _Net(plan, blob, state)
    o = net.weighted(_int(op))
    channels = o[L.OUT_C]
    _require(0 <= _int(alpha) <= 256, "alpha must be 0..256")
    moves = o[L.BIAS_OFF] >= 0 and o[L.MS_OFF] >= 0
    _require(moves, "realign needs the operator's biases and multipliers in the state")
    net.check_trained(o)
    _check(blob, o[L.STAT_OFF], 8 * channels, 4)
    _check(stats, 0, 8 * channels)
    _check_out(out, 12 * channels)
    for c in range(channels):
        clean = (
            _get("<i", blob, o[L.STAT_OFF] + 4 * c),
            _get("<i", blob, o[L.STAT_OFF] + 4 * (channels + c)),
        )
        target = _get("<i", stats, 4 * c), _get("<i", stats, 4 * (channels + c))
        held = (net.bias(o, c),) + net.scale(o, c)
        values = _realigned(held, net.file(o, c), clean, target, alpha, o[L.B_MAX])
        for i in range(3):
            pack_into("<i", out, 4 * (i * channels + c), values[i])
    return 0


def _realigned(held, file, clean, target, alpha, b_max):
    """held: (bias, mult, shift) as they are, file: as they were."""
    if clean[1] <= 0 or target[1] <= 0:
        return held
    bias, mult, shift = file
    r = _sat((clean[1] << 16) // target[1], 1 << 14, 1 << 18)
    moved = _sat(held[0] + _rdiv(clean[0] << 16, r) - target[0], -b_max, b_max)
    r = 65536 + ((r - 65536) * alpha >> 8)
    bias += (moved - bias) * alpha >> 8
    p = mult * r
    while p >= 1 << 47:
        p >>= 1
        shift += 1
    while 0 < p < 1 << 46:
        p <<= 1
        shift -= 1
    return bias, p >> 16, _sat(shift, -31, 30)


def assign(plan, state, op, vals):
    net = _Net(plan, b"", state)
    _check_out(state)
    o = net.weighted(_int(op))
    channels = o[L.OUT_C]
    moves = o[L.BIAS_OFF] >= 0 and o[L.MS_OFF] >= 0
    _require(moves, "assign needs the operator's biases and multipliers in the state")
    _check(vals, 0, 12 * channels)
    net.check_trained(o)
    vals = unpack_from("<%di" % (3 * channels), vals, 0)
    for c in range(channels):
        _require(-o[L.B_MAX] <= vals[c] <= o[L.B_MAX], "a bias is out of range")
        _require(
            _legal(vals[channels + c], vals[2 * channels + c]),
            "a multiplier or shift is out of range",
        )
    at = o[L.MS_OFF]
    pack_into("<%di" % channels, state, o[L.BIAS_OFF], *vals[:channels])
    pack_into("<%di" % channels, state, at, *vals[channels : 2 * channels])
    pack_into("<%db" % channels, state, at + 4 * channels, *vals[2 * channels :])
    return 0


def _add_gradient(grad, i, v):
    pack_into("<i", grad, 4 * i, _sat(_get("<i", grad, 4 * i) + v, -_GRAD_MAX, _GRAD_MAX))


def _errors8(err, count):
    return [v + 64 >> 7 for v in unpack_from("<%di" % count, err, 0)]


def head_grad(plan, blob, state, arena, op, err, grad):
    net = _Net(plan, blob, state, arena)
    _check_out(state)
    _check_out(arena)
    o = net.op(_int(op))
    _require(o[L.KIND] == L.DENSE, "the head must be a DENSE operator")
    channels = o[L.OUT_C]
    k = o[L.IN_C]
    _check(err, 0, 4 * channels)
    _check_out(grad, 4 * channels * (k + 1))
    _check(arena, o[L.IN_OFF], k)
    x = _int8s(arena, o[L.IN_OFF], k)
    e8 = _errors8(err, channels)
    for c in range(channels):
        for i in range(k):
            _add_gradient(grad, c * k + i, e8[c] * (x[i] - o[L.IN_ZP]))
        _add_gradient(grad, channels * k + c, e8[c] * 64)
    return 0


def tail_grad(plan, blob, state, arena, op, head, err, grad):
    net = _Net(plan, blob, state, arena)
    _check_out(state)
    _check_out(arena)
    o = net.op(_int(op))
    head_op = net.op(_int(head))
    kinds = o[L.KIND] == L.CONV and head_op[L.KIND] == L.DENSE
    _require(kinds, "the tail must be a CONV, an AVGPOOL, a MEAN or nothing, and a DENSE")
    pool, gate = _between(net, op, o, head, head_op)
    k = _row_len(o)
    channels = o[L.OUT_C]
    _check(err, 0, 4 * head_op[L.OUT_C])
    _check_out(grad, 4 * channels * (k + 1))
    _check(arena, o[L.IN_OFF], _in_size(o))
    _check(arena, o[L.OUT_OFF], _out_size(o))
    _check(arena, gate[L.OUT_OFF], _out_size(gate))
    net.check_parameters(head_op)
    df = _head_input_error(net, head_op, head, err, (1 << 30) // (255 * o[L.OUT_H] * o[L.OUT_W]))
    x = _int8s(arena, o[L.IN_OFF], _in_size(o))
    for c in range(channels):
        _tail_channel(net, o, gate, pool, c, x, df, grad)
    return 0


def _between(net, op, o, head, head_op):
    """(average or None, the ADD behind convolution o or o itself)."""
    pool = None
    gate = o
    at = head - 1
    if at > op and _is_average(net.op(at)):
        pool = net.op(at)
        at -= 1
    if at > op:
        gate = net.op(at)
        spread = gate[L.FLAGS] & (L.SPREAD_HW | L.SPREAD_C)
        known = gate[L.KIND] == L.ADD and not spread and o[L.OUT] in (gate[L.IN], gate[L.IN2])
        _require(known, "the tail is not connected")
    else:
        _require(at == op, "the tail is not connected")
    if pool:
        good = gate[L.OUT] == pool[L.IN] and pool[L.OUT] == head_op[L.IN]
        _require(good and _out_size(pool) == _in_size(head_op), "the tail is not connected")
    else:
        good = gate[L.OUT] == head_op[L.IN] and _out_size(o) == _in_size(head_op)
        _require(good, "the tail is not connected")
    for i in range(3):
        good = gate[L.OUT_H + i] == o[L.OUT_H + i]
        good = good and (not pool or pool[L.IN_H + i] == o[L.OUT_H + i])
        _require(good, "the tail's shapes differ")
    return pool, gate


def _is_average(pool):
    good = pool[L.KIND] in (L.AVGPOOL, L.MEAN)
    for i in range(4):
        good = good and pool[L.P_T + i] == 0
    good = good and (pool[L.K_H] == pool[L.S_H] or pool[L.OUT_H] == 1)
    return good and (pool[L.K_W] == pool[L.S_W] or pool[L.OUT_W] == 1)


def _unclamped(net, o, at):
    return o[L.ACT_MIN] < _get("b", net.arena, o[L.OUT_OFF] + at) < o[L.ACT_MAX]


def _head_input_error(net, head, index, err, most):
    """df_k, the error at the head's input, clamped to +-most."""
    e8 = _errors8(err, head[L.OUT_C])
    df = [0] * head[L.IN_C]
    for c, w, _ in _Pass().rows(net, head, index):
        for i in range(len(df)):
            df[i] += w[i] * e8[c]
    return [_sat(_rsh(v, 4), -most, most) for v in df]


def _tail_channel(net, o, gate, pool, c, x, df, grad):
    """Adds the gradient of one output channel."""
    k = _row_len(o)
    channels = o[L.OUT_C]
    g = [0] * k
    total = 0
    for oy in range(o[L.OUT_H]):
        for ox in range(o[L.OUT_W]):
            p = oy * o[L.OUT_W] + ox
            at = p * channels + c
            if pool:
                py = oy // pool[L.K_H]
                px = ox // pool[L.K_W]
                inside = py < pool[L.OUT_H] and px < pool[L.OUT_W]
                p = py * pool[L.OUT_W] + px
            else:
                inside = True
            if inside and _unclamped(net, o, at) and _unclamped(net, gate, at):
                h = df[p * channels + c]
                total += h
                for cell, n, at in _runs(o, oy, ox):
                    for i in range(cell * o[L.IN_C], (cell + n) * o[L.IN_C]):
                        g[i] += h * (x[at] - o[L.IN_ZP])
                        at += 1
    for i in range(k):
        _add_gradient(grad, c * k + i, g[i])
    _add_gradient(grad, channels * k + c, total * 64)


def node(plan, blob, state, arena, params, y, sums, out):
    net = _Net(plan, blob, state, arena)
    for buf in (state, arena):
        _check_out(buf)
    _check_out(out, 8)
    _check(params, 0, 32)
    op, seed, label, mode, eps, scale, shift, clip = unpack_from("<8i", params, 0)
    _check_seed(seed)
    _require(0 <= label < net.classes, "the label is out of range")
    _require(0 <= mode <= 7, "mode must be 0..7")
    shared, mode = mode & 4, mode & 3
    move, credit = mode == 2, mode == 3
    _require((-127 if move else 1) <= eps <= 127, "eps is 1..127, or -127..127 in mode 2")
    _require((-32767 if credit else 0) <= clip <= 32767, "clip is 0..32767, in mode 3 of any sign")
    _require(0 <= scale <= 256 and 0 <= shift <= 31, "scale is 0..256, shift 0..31")
    _require(0 <= op <= net.n_ops - 2, "op must be before the last operator")
    net.check_range(op, net.n_ops)
    o = net.op(op)
    n = _out_size(o)
    _check_out(y, 0 if move or credit else n)
    _check_out(sums, 4 * n)
    clean = _int8s(arena, o[L.OUT_OFF], n)
    signs = _NodeSigns(_keys(seed, 4 * o[L.TID] + 2), o[L.OUT_C], shared)
    if move:
        _perturb_nodes(net, o, clean, signs, eps)
        return 0
    if credit:
        _credit_nodes(o, clean, signs, clip, sums)
        return 0
    pack_into("%db" % n, y, 0, *clean)
    losses = [0, 0]
    for i in range(2):
        _perturb_nodes(net, o, clean, signs, eps if i == 0 else -eps)
        _forward(net, op + 1, net.n_ops, _Pass(mode))
        losses[i] = _cross_entropy(net.logits(), label, None)
    pack_into("%db" % n, arena, o[L.OUT_OFF], *clean)
    d = _sat((losses[0] - losses[1]) * scale >> shift, -clip, clip)
    _credit_nodes(o, clean, signs, d, sums)
    pack_into("<2i", out, 0, *losses)
    return 0


class _NodeSigns:
    def __init__(self, keys, channels, shared):
        self._keys = keys
        self._channels = channels
        self._shared = shared

    def row(self, p):
        return _sign_row(self._keys, 0 if self._shared else p, self._channels)


def _credit_nodes(o, clean, all_signs, d, sums):
    channels = o[L.OUT_C]
    for p in range(len(clean) // channels):
        signs = all_signs.row(p)
        for c in range(channels):
            if o[L.ACT_MIN] < clean[p * channels + c] < o[L.ACT_MAX]:
                _add_gradient(sums, p * channels + c, d * signs[c])


def _perturb_nodes(net, o, clean, all_signs, eps):
    channels = o[L.OUT_C]
    for p in range(len(clean) // channels):
        signs = all_signs.row(p)
        for c in range(channels):
            v = clean[p * channels + c]
            if o[L.ACT_MIN] < v < o[L.ACT_MAX]:
                v = _sat(v + eps * signs[c], o[L.ACT_MIN], o[L.ACT_MAX])
            pack_into("b", net.arena, o[L.OUT_OFF] + p * channels + c, v)


def node_grad(plan, arena, op, shift, sums, grad):
    net = _Net(plan, arena=arena)
    _check_out(arena)
    o = net.weighted(_int(op))
    _require(0 <= _int(shift) <= 31, "shift must be 0..31")
    k = _row_len(o)
    channels = o[L.OUT_C]
    positions = o[L.OUT_H] * o[L.OUT_W]
    _check_out(sums, 4 * _out_size(o))
    _check_out(grad, 4 * channels * (k + 1))
    _check(arena, o[L.IN_OFF], _in_size(o))
    _check(arena, o[L.OUT_OFF], _out_size(o))
    net.check_scratch(o)
    most = (1 << 30) // (255 * positions)
    x = _int8s(arena, o[L.IN_OFF], _in_size(o))
    for c in range(channels):
        g = [0] * k
        total = 0
        for p in range(positions):
            at = 4 * (p * channels + c)
            h = _sat(_rsh(_get("<i", sums, at), shift), -most, most)
            pack_into("<i", sums, at, 0)
            total += h
            if h:
                _scatter(o, x, c, p, h, g)
        for i in range(k):
            _add_gradient(grad, c * k + i, g[i])
        _add_gradient(grad, channels * k + c, total * 64)
    return 0


def _scatter(o, x, c, p, h, g):
    """g += h * (what output position p of channel c sees)"""
    if o[L.KIND] == L.DENSE:
        for i in range(len(g)):
            g[i] += h * (x[i] - o[L.IN_ZP])
        return
    inputs = o[L.IN_C]
    deep = o[L.KIND] == L.DWCONV
    for cell, n, at in _runs(o, p // o[L.OUT_W], p % o[L.OUT_W]):
        if deep:
            at += c // (o[L.OUT_C] // inputs)
            for i in range(cell, cell + n):
                g[i] += h * (x[at] - o[L.IN_ZP])
                at += inputs
        else:
            for i in range(cell * inputs, (cell + n) * inputs):
                g[i] += h * (x[at] - o[L.IN_ZP])
                at += 1


def apply_grad(plan, state, op, shift, decay, grad):
    net = _Net(plan, b"", state)
    _check_out(state)
    o = net.weighted(_int(op))
    _require(0 <= _int(shift) <= 31 and 0 <= _int(decay) <= 31, "shift and decay must be 0..31")
    _require(o[L.MASTER_OFF] >= 0 or o[L.BIAS_OFF] >= 0, "the operator has nothing to train")
    net.check_trained(o)
    count = o[L.OUT_C] * _row_len(o)
    _check_out(grad, 4 * (count + o[L.OUT_C]))
    for i in range(count + o[L.OUT_C]):
        v = _get("<i", grad, 4 * i)
        if i >= count:
            if o[L.BIAS_OFF] >= 0:
                _move_bias(net, o, i - count, _rsh(v, shift + 4))
        elif o[L.MASTER_OFF] >= 0:
            _move_master(net, o, i, _rsh(v, shift))
        pack_into("<i", grad, 4 * i, v - (v >> decay) if decay else 0)
    return 0


def export_weights(plan, state, op, out):
    net = _Net(plan, b"", state)
    o = net.weighted(_int(op))
    _require(o[L.MASTER_OFF] >= 0, "the operator has no masters")
    count = o[L.OUT_C] * _row_len(o)
    net.check_trained(o)
    _check_out(out, count)
    for i in range(count):
        w = _get("<h", state, o[L.MASTER_OFF] + 2 * i) + 128 >> 8
        pack_into("b", out, i, min(w, 127))  # more only where memory was written in between
    return 0


def signs(seed, t, row, k, out):
    _check_seed(seed)
    _require(
        _int(t) >= 0 and _int(row) >= 0 and _int(k) >= 1,
        "stream, row and length must not be negative",
    )
    _check_out(out, k)
    values = _sign_row(_keys(seed, t), row, k)
    for i in range(k):
        pack_into("b", out, i, values[i])
    return 0


def derive(seed, a, b):
    _check_seed(seed)
    _require(0 <= _int(a) < 1 << 28 and 0 <= _int(b) < 1 << 28, "a and b must be in 0..2^28-1")
    return _word(_keys(seed, 0xD0000000 + a), b) >> 2


def shuffle(seed, idx):
    _check_seed(seed)
    _check_out(idx)
    length = _bytes_in(idx)
    _require(length % 2 == 0 and length <= 131072, "idx must hold at most 65536 uint16")
    keys = _keys(seed, 0xE0000000)
    for i in range(length // 2 - 1, 0, -1):
        j = _word(keys, i) * (i + 1) >> 32
        a = _get("<H", idx, 2 * i)
        pack_into("<H", idx, 2 * i, _get("<H", idx, 2 * j))
        pack_into("<H", idx, 2 * j, a)
    return 0


def _crc32(buf, start, end):
    crc = _MASK
    for i in range(start, end):
        crc ^= _get("B", buf, i)
        crc = crc >> 4 ^ _CRC[crc & 15]
        crc = crc >> 4 ^ _CRC[crc & 15]
    return crc ^ _MASK


def crc32(buf, start, end):
    _require(0 <= _int(start) <= _int(end), "start and end must lie in the buffer")
    _check(buf, 0, end)
    return _crc32(buf, start, end) & 0x3FFFFFFF


def seal(buf, n):
    _check_out(buf)
    _require(_int(n) >= 0, "n must leave room for the CRC")
    _check(buf, 0, n + 4)
    pack_into("<I", buf, n, _crc32(buf, 0, n))
    return 0


def check_seal(buf, n):
    _has(buf, 0)
    _require(_int(n) >= 0, "n must leave room for the CRC")
    _check(buf, 0, n + 4)
    return 1 if _get("<I", buf, n) == _crc32(buf, 0, n) else 0


def requant(acc, mult, shift, out):
    _require(_legal(_int(mult), _int(shift)), "a multiplier or shift is out of range")
    _has(acc, 0)
    length = _bytes_in(acc)
    _require(length % 4 == 0, "acc must hold int32")
    _check_out(out, length)
    for i in range(0, length, 4):
        pack_into("<i", out, i, _requant(_get("<i", acc, i), mult, shift))
    return 0
