"""The counter-based random numbers (SPEC.md, section 2)."""

from array import array
from struct import pack_into

from .buffers import INT_MAX, bytes_in, check_out, copy, get, integer, require

_MASK = 0xFFFFFFFF


def _mix(x):
    x ^= x >> 16
    x = x * 0x7FEB352D & _MASK
    x ^= x >> 15
    x = x * 0x846CA68B & _MASK
    return x ^ x >> 16


def keys(seed, t):
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


def sign_row(keys, row, k):
    """array('b') of k values +1 and -1."""
    out = array("b", bytes(k))
    at = row * ((k + 31) >> 5)
    word = 0
    for r in range(k):
        if r & 31 == 0:
            word = _word(keys, at + (r >> 5))
        out[r] = 1 - 2 * (word >> ((r & 31) >> 2) + 8 * (r & 3) & 1)
    return out


def check_seed(seed):
    integer(seed, 0, (1 << 30) - 1, "a seed")


def signs(seed, t, row, k, out):
    check_seed(seed)
    integer(t, 0, INT_MAX, "the stream")
    integer(row, 0, INT_MAX, "the row")
    check_out(out, integer(k, 1, INT_MAX, "the length"))
    copy(sign_row(keys(seed, t), row, k), 0, k, out, 0)
    return 0


def derive(seed, a, b):
    check_seed(seed)
    for value in (a, b):
        integer(value, 0, (1 << 28) - 1, "a and b")
    return _word(keys(seed, 0xD0000000 + a), b) >> 2


def shuffle(seed, idx):
    check_seed(seed)
    check_out(idx)
    length = bytes_in(idx, 2)
    require(length <= 131072, "idx must hold at most 65536 uint16")
    stream = keys(seed, 0xE0000000)
    for i in range(length // 2 - 1, 0, -1):
        j = _word(stream, i) * (i + 1) >> 32
        a = get("<H", idx, 2 * i)
        pack_into("<H", idx, 2 * i, get("<H", idx, 2 * j))
        pack_into("<H", idx, 2 * j, a)
    return 0
