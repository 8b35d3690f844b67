"""Disks that lose their power: files under ROOT, as littlefs, FAT and POSIX keep them.

    disk = Disk("posix", random.Random(1))
    with disk.mounted():            # open() and os serve what is under ROOT from the disk
        disk.cut_at(12)             # Cut is raised at the twelfth operation, then all fail
        ...
    disk = disk.after_cut()         # what the next start of the board sees

What a cut leaves, by kind:

- littlefs: a file has what it had when it was last flushed or closed; renaming is atomic.
- fat: `wb` empties a file at once, the size grows when a file is flushed or closed; renaming over
  a file is refused, and a cut in it may leave both names.
- posix: nothing is sure before fsync, of the file for bytes, of the folder for names: of names any
  first part of the changes, of a file any first bytes of it, with zeros behind them.
"""

import builtins
import contextlib
import errno
import io
import os
import random
from unittest import mock

ROOT = "/sim"
KINDS = ("littlefs", "fat", "posix")
_FIRST_NUMBER = 1 << 20  # of file descriptors that are ours


class Cut(BaseException):
    """The power is gone."""


class Node:
    """A file's bytes: as the program sees them, and as they are on the medium."""

    def __init__(self, content=b""):
        self.data = bytearray(content)
        self.safe = bytes(content)


class Disk:
    def __init__(self, kind, rng, content=()):
        self.kind, self._rng = kind, rng
        self._names = {name: Node(data) for name, data in dict(content).items()}
        self._safe_names = dict(self._names)
        self._changes = []  # of names, not safe yet: (name, node or None, old name)
        self._numbers = {}
        self.ticks, self._limit, self.dead = 0, None, False
        self._room = None

    # what a test does with it

    def cut_at(self, tick):
        self._limit = self.ticks + tick

    def has_room(self, more):
        """No more than `more` bytes can be added from now on; None: there is no end."""
        self._room = None if more is None else self._used() + more

    def _used(self):
        return sum(len(node.data) for node in set(self._names.values()))

    def content(self):
        """{name: bytes} as a program sees it."""
        return {name: bytes(node.data) for name, node in self._names.items()}

    def after_cut(self):
        names = dict(self._safe_names)
        for change in self._changes[: self._rng.randint(0, len(self._changes))]:
            _apply(names, change)
        content = {name: self._left_of(node) for name, node in names.items()}
        return Disk(self.kind, random.Random(self._rng.random()), content)

    def _left_of(self, node):
        if self.kind != "posix" or self._rng.random() < 0.4:
            return node.safe
        whole = bytes(node.data)
        n = self._rng.randint(len(node.safe) if whole.startswith(node.safe) else 0, len(whole))
        return whole[:n] + bytes(len(whole) - n if self._rng.random() < 0.5 else 0)

    @contextlib.contextmanager
    def mounted(self):
        with contextlib.ExitStack() as stack:

            def patch(owner, name, ours, is_ours=_is_ours):
                theirs = getattr(owner, name)

                def call(first, *more, **options):
                    chosen = ours if is_ours(first) else theirs
                    return chosen(first, *more, **options)

                stack.enter_context(mock.patch.object(owner, name, call))

            patch(builtins, "open", self._open)
            patch(os, "stat", self._stat)
            patch(os, "remove", self._remove)
            patch(os, "rename", self._rename)
            patch(os, "open", self._open_folder)
            patch(os, "close", self._close_number, self._numbers.__contains__)
            if hasattr(os, "replace"):  # a PC; the models of boards have neither
                patch(os, "replace", self._rename)
                patch(os, "fsync", self._fsync, self._numbers.__contains__)
            yield

    # what a program does

    def tick(self):
        if self.dead:
            raise OSError(errno.EIO, "the power is gone")
        self.ticks += 1
        if self._limit is not None and self.ticks >= self._limit:
            self.dead = True
            raise Cut

    def node(self, path):
        if path not in self._names:
            raise OSError(errno.ENOENT, "no such file", path)
        return self._names[path]

    def check_room(self, more):
        if self._room is not None and self._used() + more > self._room:
            raise OSError(errno.ENOSPC, "no space left")

    def commit(self, node):
        """Bytes that are flushed; what it means depends on the kind."""
        self.tick()
        if self.kind != "posix":
            node.safe = bytes(node.data)
            self.tick()

    def number(self, what):
        number = _FIRST_NUMBER + len(self._numbers)
        self._numbers[number] = what
        return number

    def _change(self, name, node):
        """A name gets a file, or None."""
        self.tick()
        _set(self._names, name, node)
        if self.kind == "posix":
            self._changes.append((name, node))
        else:
            _set(self._safe_names, name, node)

    def _open(self, path, mode="r", buffering=-1):
        if "r" in mode:
            return Reading(self.node(path))
        node = self._names.get(path)
        if node is None:
            node = Node()
            self._change(path, node)
        elif "w" in mode:
            self.tick()
            node.data = bytearray()
            if self.kind == "fat":
                node.safe = b""
        return Writing(self, node, buffering)

    def _stat(self, path, **_):
        if self.dead:
            raise OSError(errno.EIO, "the power is gone")
        if path == ROOT:
            return os.stat_result((0o40755,) + (0,) * 9)
        node = self.node(path)
        return os.stat_result((0o100644, id(node), 0, 1, 0, 0, len(node.data), 0, 0, 0))

    def _remove(self, path):
        self.node(path)
        self._change(path, None)

    def _rename(self, old, new):
        node = self.node(old)
        if self.kind == "fat":
            if new in self._names:
                raise OSError(errno.EEXIST, "exists", new)
            self._change(new, node)
            self._change(old, None)
            return
        self.tick()
        for name, content in ((new, node), (old, None)):
            _set(self._names, name, content)
            if self.kind != "posix":
                _set(self._safe_names, name, content)
        if self.kind == "posix":
            self._changes.append((new, node, old))

    def _open_folder(self, path, *_):
        return self.number(None)

    def _close_number(self, number):
        self._numbers.pop(number)

    def _fsync(self, number):
        self.tick()
        node = self._numbers[number]
        if node is None:
            for change in self._changes:
                _apply(self._safe_names, change)
            self._changes = []
        else:
            node.safe = bytes(node.data)
        self.tick()


class Reading(io.BytesIO):
    def __init__(self, node):
        super().__init__(bytes(node.data))


class Writing:
    """An open file; without a buffer every write is an operation of its own."""

    def __init__(self, disk, node, buffering):
        self._disk, self._node, self._buffering = disk, node, buffering
        self._waiting = bytearray()
        self.closed = False

    def write(self, data):
        data = bytes(data)
        self._waiting += data
        if not self._buffering:
            self._pass_on()
        return len(data)

    def flush(self):
        self._pass_on()
        self._disk.commit(self._node)

    def fileno(self):
        return self._disk.number(self._node)

    def close(self):
        if not self.closed:
            self.closed = True
            if not self._disk.dead:  # an object that outlives its board closes without a word
                self.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _pass_on(self):
        """Bytes to the file; a cut tears them anywhere."""
        waiting, self._waiting = self._waiting, bytearray()
        if waiting:
            self._disk.check_room(len(waiting))
            half = self._disk._rng.randint(0, len(waiting))
            self._node.data += waiting[:half]
            self._disk.tick()
            self._node.data += waiting[half:]


def _is_ours(path):
    return isinstance(path, str) and (path == ROOT or path.startswith(ROOT + "/"))


def _set(names, name, node):
    if node is None:
        names.pop(name, None)
    else:
        names[name] = node


def _apply(names, change):
    name, node, *old = change
    _set(names, name, node)
    for other in old:
        names.pop(other, None)
