"""The disk of an emulated board: a littlefs file system in a host file."""

import os
from pathlib import Path

from littlefs import LittleFS, UserContext

BYTES = 8 << 20
BLOCK_BYTES = 4096
PROG_BYTES = 256


def make(fs, size=BYTES):
    """The bytes of a disk that holds `fs`: {path on the board: host file, folder or bytes}."""
    image = LittleFS(
        block_size=BLOCK_BYTES,
        block_count=size // BLOCK_BYTES,
        read_size=32,
        prog_size=PROG_BYTES,
        cache_size=PROG_BYTES * 4,
        lookahead_size=32,
    )
    for path, data in _flatten(fs):
        folder = os.path.dirname(path)
        if folder:
            image.makedirs(folder, exist_ok=True)
        with image.open(path, "wb") as f:
            f.write(data)
    return bytes(image.context.buffer)


def files(path):
    """{path on the board: bytes} of the disk in a host file."""
    context = UserContext(BYTES)
    with open(path, "rb") as f:
        context.buffer = bytearray(f.read(BYTES))
    disk = LittleFS(
        context=context,
        block_size=BLOCK_BYTES,
        block_count=BYTES // BLOCK_BYTES,
        prog_size=PROG_BYTES,
        mount=True,
    )
    content = {}
    for folder, _, names in disk.walk("/"):
        for name in names:
            inner = f"{folder.rstrip('/')}/{name}"
            with disk.open(inner, "rb") as f:
                content[inner.strip("/")] = f.read()
    return content


def _flatten(fs):
    for path, source in fs.items():
        path = path.strip("/")
        if isinstance(source, bytes | bytearray | memoryview):
            yield path, bytes(source)
        elif Path(source).is_dir():
            for file in sorted(Path(source).rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    yield f"{path}/{file.relative_to(source)}".strip("/"), file.read_bytes()
        else:
            yield path, Path(source).read_bytes()
