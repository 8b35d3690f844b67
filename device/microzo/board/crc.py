"""CRC-32, a half byte at a time: for the kernels in Python, and where binascii has none."""

from array import array
from struct import unpack_from

_MASK = 0xFFFFFFFF
_TABLE = (
    0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
    0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
)  # fmt: skip


def of_part(buf, start, end, crc=0):
    """The CRC of bytes start..end-1 of a buffer; crc: of what came before."""
    crc ^= _MASK
    for i in range(start, end):
        crc ^= unpack_from("B", buf, i)[0]
        crc = crc >> 4 ^ _TABLE[crc & 15]
        crc = crc >> 4 ^ _TABLE[crc & 15]
    return crc ^ _MASK


def crc32(data, crc=0):
    """As binascii.crc32; data: bytes, or an array, whose bytes count."""
    if isinstance(data, array):
        data = bytes(data)
    return of_part(data, 0, len(data), crc)
