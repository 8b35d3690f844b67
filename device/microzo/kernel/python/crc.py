"""CRC-32, a half byte at a time."""

from struct import pack_into

from .buffers import INT_MAX, check, check_out, get, has, integer

_MASK = 0xFFFFFFFF
_TABLE = (
    0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
    0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
)  # fmt: skip


def _crc32(buf, start, end):
    crc = _MASK
    for i in range(start, end):
        crc ^= get("B", buf, i)
        crc = crc >> 4 ^ _TABLE[crc & 15]
        crc = crc >> 4 ^ _TABLE[crc & 15]
    return crc ^ _MASK


def crc32(buf, start, end):
    check(buf, 0, integer(end, integer(start, 0, INT_MAX, "start"), INT_MAX, "end"))
    return _crc32(buf, start, end) & 0x3FFFFFFF


def seal(buf, n):
    check_out(buf, integer(n, 0, INT_MAX, "n") + 4)
    pack_into("<I", buf, n, _crc32(buf, 0, n))
    return 0


def check_seal(buf, n):
    has(buf, 0)
    check(buf, 0, integer(n, 0, INT_MAX, "n") + 4)
    return 1 if get("<I", buf, n) == _crc32(buf, 0, n) else 0
