"""Writes a trained model as a model file (SPEC.md, section 3): header copied, weights, CRCs
anew."""

from array import array

from ..board import files
from . import arena as planner
from . import words as L

try:
    from binascii import crc32
except ImportError:  # CircuitPython without zlib
    from ..board.crc import crc32


def write(model, path):
    """Temporary file, then rename: after a power cut there is the old file or the new one.

    ValueError if the file that is there is a journal, one of its checkpoints, or a .npy file.
    """
    _check_place(path)
    if files.exists(files.temporary(path)):
        from . import whole

        whole.settle(path)
    crc = 0
    for piece in _pieces(model):
        crc = crc32(piece, crc)
    plan = array("i", model.plan)
    planner.clear_runtime(plan)
    plan[L.BLOB_CRC] = _signed(crc)
    plan[L.PLAN_CRC] = 0
    plan[L.PLAN_CRC] = _signed(crc32(plan))
    files.write_whole(path, _parts(model, plan))


def _check_place(path):
    head = bytearray(8)
    try:
        with open(path, "rb") as f:
            f.readinto(head)
    except OSError:
        return  # nothing is there
    for magic in (b"mzojrnl", b"mzck", b"\x93NUMPY"):
        if head[: len(magic)] == magic:
            raise ValueError(
                "%s holds a journal or data, no model: save under another name, or delete it"
                % path
            )


def _parts(model, plan):
    with files.open_for_reading(model.path) as old:
        for part in _header(old, model):
            yield part
    yield plan
    for piece in _pieces(model):
        yield piece


def _header(old, model):
    """Length and JSON of the file the model came from; they do not change with the values."""
    block = bytearray(256)
    view = memoryview(block)
    files.fill(old, view[:8], 8, model.path)
    n = block[0] | block[1] << 8 | block[2] << 16
    yield view[:8]
    while n:
        part = view[: min(n, len(block))]
        files.fill(old, part, len(part), model.path)
        yield part
        n -= len(part)
    head = array("i", bytearray(4 * L.HEADER_WORDS))
    files.fill(old, head, 4 * L.HEADER_WORDS, model.path)
    if head[L.N_OPS] != model.plan[L.N_OPS] or head[L.BLOB_LEN] != model.plan[L.BLOB_LEN]:
        raise OSError(
            "%s is no longer the file this model came from, save needs it for the header"
            % model.path
        )


def _signed(crc):
    return crc - (1 << 32) if crc >> 31 else crc


def _pieces(model):
    """The blob in buffers, in order, with the trained values in their places; each is used
    before the next is made."""
    blob = memoryview(model.blob)
    at = 0
    for begin, op, word in _changed(model.plan):
        yield blob[at:begin]
        piece = _value(model, op, word)
        yield piece
        at = begin + len(piece)
    yield blob[at:]


def _changed(plan):
    """Sorted (blob offset, operator, word of the state offset) of the trained tensors."""
    found = []
    for op in range(plan[L.N_OPS]):
        o = L.op_base(op)
        if plan[o + L.MASTER_OFF] >= 0:
            found.append((plan[o + L.W_OFF], op, L.MASTER_OFF))
        if plan[o + L.BIAS_OFF] >= 0:
            found.append((plan[o + L.B_OFF], op, L.BIAS_OFF))
        if plan[o + L.MS_OFF] >= 0:
            found.append((plan[o + L.M_OFF], op, L.MS_OFF))
            found.append((plan[o + L.S_OFF], op, -1))
    found.sort()
    return found


def _value(model, op, word):
    """One trained tensor as the file holds it."""
    plan = model.plan
    o = L.op_base(op)
    channels = plan[o + L.OUT_C]
    if word == L.MASTER_OFF:
        n = channels * planner.row_len(plan, o)
        # a trained board has no large block left; nothing in the arena is needed now
        out = memoryview(model.arena)[:n] if n <= len(model.arena) else bytearray(n)
        model.k.export_weights(plan, model.state, op, out)
        return out
    if word == L.BIAS_OFF:
        at, n = plan[o + L.BIAS_OFF], 4 * channels
    elif word == L.MS_OFF:
        at, n = plan[o + L.MS_OFF], 4 * channels
    else:
        at, n = plan[o + L.MS_OFF] + 4 * channels, channels
    return memoryview(model.state)[at : at + n]
