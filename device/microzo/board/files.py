"""Small file helpers: exact reads, replacement that survives a power cut."""

import os


def exists(path):
    try:
        os.stat(path)
        return True
    except OSError:
        return False


def size(path):
    return os.stat(path)[6]


def seek(f, at):
    """f.seek(at) after which littlefs 2.8 (in MicroPython 1.25) reads right: it keeps the cache
    of a block that a read has just ended when the seek goes into the next; by way of 0 it drops
    it."""
    f.seek(0)
    f.seek(at)


def remove(path):
    try:
        os.remove(path)
    except OSError:
        pass


def replace(temporary, path):
    """Renames over an existing file; where the file system refuses that (FAT), removes the old
    one first."""
    try:
        getattr(os, "replace", os.rename)(temporary, path)
    except OSError:
        remove(path)
        os.rename(temporary, path)


def write_whole(path, parts):
    """A file of the buffers that `parts` gives, whole or not at all."""
    temporary = path + ".tmp"
    try:
        with open(temporary, "wb") as f:
            for part in parts:
                f.write(part)
    except OSError as e:
        remove(temporary)
        if e.args and e.args[0] == 28:
            raise OSError("no room for %s in its file system, delete files there" % path)
        raise
    replace(temporary, path)


def fill(f, buf, n, path):
    """Reads exactly n bytes, the whole of buf; OSError if the file ends before."""
    if f.readinto(buf) != n:
        raise OSError("%s ends too early, copy it again" % path)


def open_for_reading(path):
    try:
        return open(path, "rb")
    except OSError as e:
        if e.args and e.args[0] == 2:
            e = "no such file: correct its name or copy it here, `microzo push` does"
        raise OSError("cannot open %s (%s)" % (path, e))
