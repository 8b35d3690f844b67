"""Journals taken apart and put together again, with right check sums."""

import struct
import zlib

HEADER = 48


def split(raw):
    """(header, records), as bytearrays without their check sums."""
    records, at = [], HEADER
    while at < len(raw):
        n = struct.unpack_from("<H", raw, at + 2)[0]
        records.append(bytearray(raw[at : at + 12 + n]))
        at += 16 + n
    return bytearray(raw[: HEADER - 4]), records


def join(header, records, repair_recipe=True, repair_length=lambda: True):
    """The journal; with the check sum of its first record's payload, and the lengths of its
    records, where they are repaired."""
    if records and repair_recipe:
        crc = zlib.crc32(bytes(records[0][12:])) & (1 << 30) - 1
        struct.pack_into("<I", header, 36, crc)
    parts = [_sealed(header)]
    for rec in records:
        if repair_length():
            struct.pack_into("<H", rec, 2, min(65535, len(rec) - 12))
        parts.append(_sealed(rec))
    return b"".join(parts)


def _sealed(data):
    return bytes(data) + struct.pack("<I", zlib.crc32(bytes(data)))
