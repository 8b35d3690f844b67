"""Checkpoints (SPEC.md, section 5): the state after all records before a journal offset, in one
file each."""

from ..board import files
from . import record

HEADER_LEN = 32
_MAGIC = b"mzck"


def write(path, model, offset, run_crc, gradient=None):
    """Temporary file, then rename. run_crc: ties the checkpoint to its journal."""
    head = bytearray(HEADER_LEN)
    parts = [model.state]
    if gradient is not None:
        parts += gradient.buffers()
    head[:4] = _MAGIC
    record.put32(head, 4, offset)
    record.put32(head, 8, run_crc)
    record.put32(head, 12, len(model.state))
    record.put32(head, 16, sum(len(p) for p in parts[1:]))
    record.put32(head, 20, _body_crc(model.k, parts))
    model.k.seal(head, HEADER_LEN - 4)
    files.write_whole(path, [head] + parts)


def _body_crc(k, parts):
    crc = 0
    for part in parts:
        crc = (crc << 1 ^ k.crc32(part, 0, len(part))) & 0x3FFFFFFF
    return crc


def header(path, k):
    """The header of a checkpoint, or None if there is none or it is damaged."""
    head = bytearray(HEADER_LEN)
    try:
        with open(path, "rb") as f:
            n = f.readinto(head)
    except OSError:
        return None
    if n < HEADER_LEN or bytes(head[:4]) != _MAGIC or not k.check_seal(head, HEADER_LEN - 4):
        return None
    return head


def offset_of(path, k, run_crc):
    """Journal offset of a checkpoint of this run, -1 if there is none or its header is damaged."""
    head = header(path, k)
    return record.get32(head, 4) if head and record.get32(head, 8) == run_crc else -1


def read(path, model, gradient):
    """Fills the state, and the gradient buffers if the file has them; False if it does not fit
    or is damaged."""
    head = bytearray(HEADER_LEN)
    with open(path, "rb") as f:
        f.readinto(head)
        parts = [model.state]
        if record.get32(head, 16):
            if gradient is None:
                return False
            parts += gradient.buffers()
        if record.get32(head, 12) != len(model.state) or record.get32(head, 16) != sum(
            len(p) for p in parts[1:]
        ):
            return False
        for part in parts:
            if f.readinto(part) != len(part):
                return False
    return _body_crc(model.k, parts) == record.get32(head, 20)
