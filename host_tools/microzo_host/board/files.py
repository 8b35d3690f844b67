"""Files on a board: copied in large chunks, resumed after a break, verified by SHA-256.

A chunk is one base64 literal sent through the raw REPL's paste mode, which has
flow control on every board; nothing but MicroPython's own modules is needed.
A file grows as ``NAME.part`` and takes its name when its hash is right.
"""

import base64
import binascii
import errno
import hashlib

from .errors import BoardError, ScriptError

CHUNKS = (3072, 768)  # the second for boards with little memory
READ = 1536  # bytes of a file in one answer
LARGEST = 1 << 30  # bytes of a file to pull: over a serial line a day

_HELPERS = """
import os, hashlib
from binascii import a2b_base64 as _mz_a, b2a_base64 as _mz_b
def _mz_hash(p):
    try:
        f = open(p, 'rb')
    except OSError:
        return (-1, '')
    h = hashlib.sha256(); b = bytearray(512); m = memoryview(b); n = 0
    while 1:
        k = f.readinto(b)
        if not k:
            break
        h.update(m[:k]); n += k
    f.close()
    return (n, _mz_b(h.digest()).decode().strip())
def _mz_mkdir(p):
    try:
        os.mkdir(p)
    except OSError as e:
        if e.errno != 17:
            raise
def _mz_there(*paths):
    n = 0
    for i in range(len(paths)):
        try:
            os.stat(paths[i])
            n |= 1 << i
        except OSError:
            pass
    return n
def _mz_remove(p):
    try:
        os.remove(p)
    except OSError:
        pass
"""

_FULL = {errno.ENOSPC, errno.EFBIG}
_READ_ONLY = {errno.EROFS, errno.EPERM, errno.EACCES, errno.EOPNOTSUPP}


class Files:
    """The file system of the board behind a ``Link``."""

    def __init__(self, link):
        self.link = link
        link.exec(_HELPERS)

    def state(self, path):
        """(size, base64 SHA-256) of a file; size -1 if there is none."""
        return self.link.value(f"_mz_hash({path!r})", (int, str))

    def free(self):
        """Free bytes of the root file system, or None where it cannot tell."""
        space = self._space("/")
        return space and space[1] * space[3]

    def capacity(self, path):
        """Bytes of the file system that has a file, or None where it cannot tell."""
        space = self._space(path)
        # A mapped file system counts in blocks of its first number.
        return space and (space[1] or space[0]) * space[2]

    def _space(self, path):
        """f_bsize, f_frsize, f_blocks, f_bfree; None where the file system cannot tell."""
        try:
            return self.link.value(f"tuple(os.statvfs({path!r})[:4])", (int,) * 4)
        except ScriptError:
            return None

    def present(self, paths):
        """Those of the paths that the board has, files or folders."""
        there = []
        for begin in range(0, len(paths), 30):
            some = paths[begin : begin + 30]
            bits = self.link.value(f"_mz_there({', '.join(map(repr, some))})", int)
            there += [path for i, path in enumerate(some) if bits >> i & 1]
        return there

    def remove(self, path):
        """Delete a file if it is there."""
        self.link.exec(f"_mz_remove({path!r})")

    def put(self, path, data, progress=lambda done: None):
        """Copy bytes to a file; returns ``unchanged``, ``copied`` or ``resumed``."""
        wanted = (len(data), _digest(data))
        if self.state(path) == wanted:
            progress(len(data))
            return "unchanged"
        part = path + ".part"
        with _explained(path):
            self._make_folders(path)
            start = self._usable(part, data)
            if self.state(part)[0] != start:
                self.link.exec(f"_mz_remove({part!r})")
                start = 0
            for attempt in ("first", "second"):
                self._append(part, data, start, progress)
                if self.state(part) == wanted:
                    break
                self.link.exec(f"_mz_remove({part!r})")
                if attempt == "second":
                    raise BoardError(f"{path} arrived damaged twice: check the cable, try again")
                start = 0
            self.link.exec(
                f"try:\n os.rename({part!r}, {path!r})\n"
                f"except OSError:\n os.remove({path!r})\n os.rename({part!r}, {path!r})"
            )
        return "resumed" if start else "copied"

    def get(self, path, progress=lambda done: None):
        """The bytes of a file, verified."""
        size, digest = self.state(path)
        if size < 0:
            raise BoardError(f"the board has no file {path}: list its files by `mpremote fs ls`")
        capacity = self.capacity(path)
        if size > LARGEST or capacity is not None and size > capacity:
            raise BoardError(
                f"the board says {path} has {size:,} bytes, more than its file system holds or a "
                f"serial line carries: reset it and try again"
            )
        data = bytearray()
        self.link.exec(f"_mz_f = open({path!r}, 'rb')")
        while len(data) < size:
            text = self.link.exec(f"print(_mz_b(_mz_f.read({READ})).decode(), end='')")
            try:
                chunk = base64.b64decode(text)
            except (binascii.Error, ValueError):
                chunk = b""
            if not 0 < len(chunk) <= READ:
                break
            data += chunk
            progress(len(data))
        self.link.exec("_mz_f.close()")
        if (len(data), _digest(data)) != (size, digest):
            raise BoardError(f"{path} arrived damaged: try again")
        return bytes(data)

    def _usable(self, part, data):
        """Bytes of an interrupted copy that are right and need not be sent again."""
        size, digest = self.state(part)
        return size if 0 < size <= len(data) and _digest(data[:size]) == digest else 0

    def _append(self, part, data, start, progress):
        mode = "ab" if start else "wb"
        self.link.exec(f"_mz_f = open({part!r}, {mode!r})")
        sizes, at = list(CHUNKS), start
        while at < len(data):
            text = base64.b64encode(data[at : at + sizes[0]])
            try:
                self.link.exec(b"_mz_n = _mz_f.write(_mz_a(" + repr(text).encode() + b"))")
            except ScriptError as error:
                if "MemoryError" not in error.traceback or len(sizes) == 1:
                    self.link.exec("_mz_f.close()")
                    raise
                sizes.pop(0)
                continue
            at = min(at + sizes[0], len(data))
            progress(at)
        self.link.exec("_mz_f.close()")

    def _make_folders(self, path):
        parts = path.strip("/").split("/")[:-1]
        for n in range(1, len(parts) + 1):
            self.link.exec(f"_mz_mkdir({'/' + '/'.join(parts[:n])!r})")


def _digest(data):
    return base64.b64encode(hashlib.sha256(data).digest()).decode()


class _explained:
    """Turns the board's errno into a sentence about the file."""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        if not isinstance(error, ScriptError):
            return
        code = _errno(error.traceback)
        if code in _FULL:
            raise BoardError(
                f"the board's file system is full, {self.path} does not fit: delete files there"
            ) from None
        if code in _READ_ONLY:
            raise BoardError(
                f"the board's file system is read-only, so {self.path} cannot be written: "
                f"on CircuitPython, remount it in boot.py (storage.remount)"
            ) from None
        if code == errno.ENODEV:
            raise BoardError(
                "the board has no file system mounted at /: format one (see MicroPython's vfs)"
            ) from None


def _errno(traceback):
    """The error number in the last line of a board's traceback, or None."""
    last = (traceback.strip().splitlines() or [""])[-1]
    if not last.startswith("OSError"):
        return None
    for number, name in errno.errorcode.items():
        if f"{name}" in last.replace(":", " ").replace("]", " ").split():
            return number
    digits = "".join(c if c.isdigit() else " " for c in last).split()
    return int(digits[0]) if digits else None
