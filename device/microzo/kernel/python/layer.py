"""What an operator's record may hold (SPEC.md, 4.1)."""

from ...net import words as L
from ...net.arena import accumulator_bound, extent, in_size, out_size, row_len
from .buffers import require

_LARGEST = 1 << 24
_MOST = 65535
_RANGES = (
    (L.IN_H, L.OUT_C, 1, _MOST),
    (L.K_H, L.S_W, 1, _MOST),
    (L.IN_ZP, L.ACT_MAX, -128, 127),
)
# w: kernel and stride are 1; p: no padding; k: less padding than kernel; c: as many channels
_RULES = "", "", "", "wp", "kc", "kc", "wpc", "wc", "pc", "wpc", "wp", "wpc"


def check_record(o):
    kind = o[L.KIND]
    require(L.CONV <= kind <= L.LUT, "an operator's kind is unknown")
    flags = L.SPREAD_HW | L.SPREAD_C if kind in (L.ADD, L.MUL) else 0
    if kind <= L.DENSE:
        flags = L.EMIT_LOGITS | L.ROUND_ONCE
    good = o[L.FLAGS] & ~flags == 0 and o[L.ACT_MIN] <= o[L.ACT_MAX]
    pads = (L.P_T, L.P_R, -_MOST if kind == L.PAD else 0, _MOST)
    dilations = (L.DIL_H, L.DIL_W, 0, _MOST) if kind <= L.DENSE else pads
    for first, last, low, high in _RANGES + (pads, dilations):
        words = o[first : last + 1]
        good = good and low <= min(words) and max(words) <= high
    rows = 8 * (o[L.IN_W] + o[L.P_L] + o[L.P_R]) * o[L.K_H]
    good = good and (kind != L.DWCONV or rows < _LARGEST)
    good = good and (kind <= L.DENSE or o[L.K_H] * o[L.K_W] < 1 << 22)
    good = good and in_size(o, 0) < _LARGEST and out_size(o, 0) < _LARGEST
    require(good, "an operator's shape or range is wrong")
    if kind == L.CONCAT:
        grown = [o[L.OUT_H + i] - o[L.IN_H + i] for i in range(3)]
        good = min(grown) == 0 and 0 < max(grown) == sum(grown)
    elif kind <= L.DENSE:
        good = _weights_fit(o)
    require(
        good and _axis_fits(o, 0) and _axis_fits(o, 1),
        "an operator's output size, kernel or padding is wrong",
    )


def _axis_fits(o, i):
    """i: 0 height, 1 width."""
    kind = o[L.KIND]
    rules = _RULES[kind]
    before, after, k, stride = o[L.P_T + 2 * i], o[L.P_B + 2 * i], o[L.K_H + i], o[L.S_H + i]
    room = o[L.IN_H + i] + before + after - extent(o, 0, L.K_H + i)
    good = kind == L.CONCAT or room >= 0 and o[L.OUT_H + i] == room // stride + 1
    good = good and ("w" not in rules or k == stride == 1)
    good = good and ("p" not in rules or before == after == 0)
    good = good and ("k" not in rules or max(before, after) < k)
    return good and ("c" not in rules or o[L.OUT_C] == o[L.IN_C])


def _weights_fit(o):
    """Sizes, and the bounds of SPEC.md, 1.4."""
    good = 0 <= o[L.F] <= 8 and 0 <= o[L.B_MAX] < 1 << 30 and 0 <= o[L.TID] < 1 << 20
    good = good and 0 <= o[L.EPS_W] <= 127 and 0 <= o[L.EPS_B] <= 16
    good = good and (o[L.KIND] != L.DENSE or o[L.IN_H] == o[L.IN_W] == 1)
    good = good and (o[L.KIND] != L.DWCONV or o[L.OUT_C] % o[L.IN_C] == 0)
    good = good and (not o[L.FLAGS] & L.EMIT_LOGITS or o[L.OUT_H] == o[L.OUT_W] == 1)
    f = o[L.F] if o[L.MASTER_OFF] >= 0 else 0
    if o[L.ABS_SUM]:
        still = max(o[L.MASTER_OFF], o[L.BIAS_OFF], o[L.MS_OFF]) < 0 < o[L.ABS_SUM]
        good = good and still and o[L.EPS_W] == o[L.EPS_B] == o[L.F] == 0
    good = good and accumulator_bound(o, 0, f) < 1 << 30 and (127 + o[L.EPS_W]) << f < 1 << 15
    return good and o[L.OUT_C] * row_len(o, 0) < _LARGEST
