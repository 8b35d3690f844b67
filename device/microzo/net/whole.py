"""Tells whether a model file is whole; imported when a power cut has left a temporary one."""

import binascii
from array import array

from .. import forget
from ..board import files
from ..board import settle as board_settle
from . import words as L


def settle(path):
    """The old model or the new one is under its name again."""
    try:
        board_settle.settle(path, worth)
    finally:
        forget("net.whole")
        forget("board.settle")


def worth(path):
    """1 if the file is a whole model, by its checksums; else 0."""
    try:
        with open(path, "rb") as f:
            return int(_is_whole(f, path))
    except (OSError, ValueError):
        return 0


def _is_whole(f, path):
    head = bytearray(8)
    files.fill(f, head, 8, path)
    begin = 8 + (head[0] | head[1] << 8 | head[2] << 16)
    plan = array("i", bytearray(4 * L.HEADER_WORDS))
    files.seek(f, begin)
    files.fill(f, plan, 4 * len(plan), path)
    if any(head[3:]) or plan[L.MAGIC] != L.MAGIC_VALUE or not 1 <= plan[L.N_OPS] <= 255:
        return False
    n = 4 * L.op_base(plan[L.N_OPS])
    plan_crc = plan[L.PLAN_CRC]
    plan[L.PLAN_CRC] = 0
    crc = binascii.crc32(plan)
    rest = _crc(f, n - 4 * len(plan), crc)
    return rest == plan_crc & 0xFFFFFFFF and _crc(f, plan[L.BLOB_LEN]) == (
        plan[L.BLOB_CRC] & 0xFFFFFFFF
    )


def _crc(f, n, crc=0):
    """CRC-32 of the next n bytes; -1 if there are not so many."""
    block = bytearray(512)
    view = memoryview(block)
    while n > 0:
        m = f.readinto(view[: min(n, 512)])
        if not m:
            return -1
        crc = binascii.crc32(view[:m], crc)
        n -= m
    return crc
