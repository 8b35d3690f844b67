"""Reader and writer of the safetensors container (huggingface/safetensors format).

u64 little-endian header length, a JSON header, then the tensors back to back.
Ours because the order of tensors is part of microzo's model file, which the
safetensors package does not let one choose; files stay readable by it.
"""

import json
import os
import struct

import numpy as np

DTYPES = {
    "I8": np.dtype("i1"), "U8": np.dtype("u1"), "I16": np.dtype("<i2"), "U16": np.dtype("<u2"),
    "I32": np.dtype("<i4"), "U32": np.dtype("<u4"), "F32": np.dtype("<f4"),
}  # fmt: skip
MAX_HEADER = 1 << 20


def pack(tensors, metadata):
    """Bytes of a file: tensors {name: array} in this order."""
    header, blobs, offset = {"__metadata__": metadata}, [], 0
    for name, array in tensors.items():
        code = next((c for c, d in DTYPES.items() if d == array.dtype), None)
        if code is None:
            raise ValueError(f"tensor {name!r} is {array.dtype}: use one of {', '.join(DTYPES)}")
        header[name] = {
            "dtype": code,
            "shape": list(array.shape),
            "data_offsets": [offset, offset + array.nbytes],
        }
        blobs.append(np.ascontiguousarray(array, DTYPES[code]).tobytes())
        offset += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(blobs)


def write(path, tensors, metadata):
    """Write a file whole or not at all (temporary file beside it, then rename)."""
    temporary = f"{path}.tmp"
    with open(temporary, "wb") as file:
        file.write(pack(tensors, metadata))
    os.replace(temporary, path)


def read(path):
    """Return ({name: array} in file order, metadata dict); ValueError if it is no such file."""
    with open(path, "rb") as file:
        raw = file.read()
    return unpack(raw, path)


def unpack(raw, path):
    """As read(), from bytes; ``path`` only names the file in errors."""
    if len(raw) < 8:
        raise ValueError(f"{path} is no safetensors file: it has only {len(raw)} bytes")
    (length,) = struct.unpack_from("<Q", raw)
    if length > min(MAX_HEADER, len(raw) - 8):
        raise ValueError(f"{path} is no complete safetensors file: copy or make it again")
    try:
        header = json.loads(raw[8 : 8 + length])
        metadata = {str(k): str(v) for k, v in header.pop("__metadata__", {}).items()}
        entries = [
            (name, DTYPES[e["dtype"]], tuple(e["shape"]), *e["data_offsets"])
            for name, e in header.items()
        ]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ValueError(
            f"{path} has a damaged or foreign safetensors header: copy or make it again"
        ) from None
    body = memoryview(raw)[8 + length :]
    tensors, end = {}, 0
    for name, dtype, shape, start, stop in entries:
        if not all(type(n) is int and n >= 0 for n in (*shape, start, stop)):
            raise ValueError(f"{path}: tensor {name!r} has a bad shape or offset; make it again")
        if start != end or stop - start != dtype.itemsize * int(np.prod(shape, dtype=object)):
            raise ValueError(f"{path}: tensor {name!r} does not fill its place; make it again")
        if stop > len(body):
            raise ValueError(f"{path} is cut off inside tensor {name!r}: copy or make it again")
        tensors[name] = np.frombuffer(body[start:stop], dtype).reshape(shape)
        end = stop
    if end != len(body):
        raise ValueError(
            f"{path} has {len(body) - end} bytes after its last tensor: make it again"
        )
    return tensors, metadata
