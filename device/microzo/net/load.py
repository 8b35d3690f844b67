"""Reads a model file (SPEC.md, section 3)."""

import sys
from array import array

from ..board import files, memory
from ..kernel import choice as backend
from . import arena as planner
from . import trainable as selection
from . import words as L
from .model import Model

_LOW30 = 0x3FFFFFFF


def load(path):
    """Returns the Model in file `path`.

    OSError: the file is missing or cut. ValueError: it is no model, altered, or of another
    version. MemoryError: it does not fit; the text names needed, free and largest block.
    """
    k = backend.kernels()
    if files.exists(files.temporary(path)):
        from . import whole

        whole.settle(path)
    with files.open_for_reading(path) as f:
        start, length = _data_section(f, path)
        plan = _read_plan(f, path, start, length)
        _check_crc(k, path, plan)
        _validate(path, plan)
        at = start + 4 * len(plan)
        if length < 4 * len(plan) + plan[L.BLOB_LEN]:
            raise OSError(
                "%s is cut (%d of %d bytes), copy it again"
                % (path, start + length, at + plan[L.BLOB_LEN])
            )
        planner.place_state(plan, ())
        # the arena first: the larger block, while the heap is still whole
        arena = memory.take("the activations", _arena_len(plan))
        blob, mapped = _read_blob(f, path, at, plan[L.BLOB_LEN])
    if k.crc32(blob, 0, plan[L.BLOB_LEN]) != plan[L.BLOB_CRC] & _LOW30:
        raise ValueError("%s is altered (checksum of the weights), copy it again" % path)
    return Model(k, path, plan, blob, arena, mapped)


def _not_a_model(path, why):
    name = str(path).lower()
    command = "import" if name.endswith((".onnx", ".tflite")) else "quantize"
    if name.endswith(".npy"):
        return ValueError("%s holds an array, no model: microzo.Dataset(x, y) reads it" % path)
    return ValueError(
        "%s is not a microzo model: %s; convert one with `microzo %s`" % (path, why, command)
    )


def _data_section(f, path):
    """(start, length) of the data section."""
    end = f.seek(0, 2)
    f.seek(0)
    head = bytearray(9)
    if f.readinto(head) != 9 or head[8] != 0x7B:
        raise _not_a_model(path, "it has no safetensors header")
    n = head[0] | head[1] << 8 | head[2] << 16
    if any(head[3:8]):
        raise _not_a_model(path, "its header is longer than 16 MB")
    if 8 + n > end:
        raise OSError(
            "%s is cut (%d bytes, its header alone has %d), copy it again" % (path, end, 8 + n)
        )
    if n % 8:
        raise _not_a_model(path, "its data do not begin on a multiple of 8")
    return 8 + n, end - 8 - n


def _read_plan(f, path, start, length):
    head = array("i", bytearray(4 * L.HEADER_WORDS))
    files.seek(f, start)
    if length < 4 * L.HEADER_WORDS:
        raise _not_a_model(path, "it holds no plan")
    files.fill(f, head, 4 * L.HEADER_WORDS, path)
    if head[L.MAGIC] != L.MAGIC_VALUE:
        raise _not_a_model(path, "it holds no plan")
    if head[L.MAJOR] != L.VERSION_MAJOR or not 1 <= head[L.N_OPS] <= 255:
        _validate(path, head)
    if length < 4 * L.op_base(head[L.N_OPS]):
        raise OSError("%s is cut inside its plan, copy it again" % path)
    plan = array("i", bytearray(4 * L.op_base(head[L.N_OPS])))
    files.seek(f, start)
    files.fill(f, plan, 4 * len(plan), path)
    return plan


def _validate(path, plan):
    """plancheck.validate; a board forgets its code at once."""
    from .. import forget
    from . import check as plancheck

    try:
        plancheck.validate(plan)
    except ValueError as e:
        raise ValueError("%s: %s" % (path, e))
    finally:
        forget("net.check")


def _check_crc(k, path, plan):
    crc = plan[L.PLAN_CRC]
    plan[L.PLAN_CRC] = 0
    found = k.crc32(plan, 0, 4 * len(plan))
    plan[L.PLAN_CRC] = crc
    if found != crc & _LOW30:
        raise ValueError("%s is altered (checksum of the plan), copy it again" % path)


def _arena_len(plan):
    """Enough for inference, and for training the tail if there is one; leaves the layout of
    inference."""
    need = 0
    for tail in selection.tails(plan):
        need = max(need, planner.layout(plan, tail, selection.kept(plan, tail)))
    return max(need, planner.layout(plan))


def _read_blob(f, path, at, n):
    """(buffer, mapped): the weights without a copy where the file system maps files, else in
    RAM."""
    if sys.implementation.name != "cpython":
        try:
            view = memoryview(f)[at : at + n]
            import uctypes

            if uctypes.addressof(view) & 7 == 0:
                return view, True
            print(
                "microzo: %s is not aligned to 8 bytes in its file system, copying it to RAM; "
                "`microzo romfs` makes aligned images" % path
            )
        except (TypeError, ImportError):
            pass  # a file system that does not map files, or a board without uctypes
    blob = memory.take("the weights of %s" % path, n)
    files.seek(f, at)
    files.fill(f, blob, n, path)
    return blob, False
