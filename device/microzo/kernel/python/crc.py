"""CRC-32 of buffers, and the seal of a record."""

from struct import pack_into

from ...board.crc import of_part
from .buffers import INT_MAX, check, check_out, get, has, integer


def crc32(buf, start, end):
    check(buf, 0, integer(end, integer(start, 0, INT_MAX, "start"), INT_MAX, "end"))
    return of_part(buf, start, end) & 0x3FFFFFFF


def seal(buf, n):
    check_out(buf, integer(n, 0, INT_MAX, "n") + 4)
    pack_into("<I", buf, n, of_part(buf, 0, n))
    return 0


def check_seal(buf, n):
    has(buf, 0)
    check(buf, 0, integer(n, 0, INT_MAX, "n") + 4)
    return 1 if get("<I", buf, n) == of_part(buf, 0, n) else 0
