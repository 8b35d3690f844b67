"""Small file helpers: exact reads, whole writes that survive a power cut."""

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


def sync(f):
    """What was written to an open file is on the medium."""
    f.flush()
    if hasattr(os, "fsync"):  # a PC; on a board flush does it
        os.fsync(f.fileno())


def temporary(path):
    """What a file is called while it is written."""
    return "%s.tmp" % path


def replace(path):
    """The temporary file, which is whole and closed, takes the place of `path`.

    A cut leaves the old file, or the new one, under its name, but on FAT, where renaming could
    leave two names of one file: there it is a copy, and readers finish it (settle.py).
    """
    new = temporary(path)
    try:
        if hasattr(os, "replace"):
            os.replace(new, path)
        elif exists("%s.TMP" % path):  # FAT takes capitals for small letters
            raise OSError(17)
        else:
            os.rename(new, path)
    except OSError as e:
        if not e.args or e.args[0] != 17:  # EEXIST
            raise
        from .. import forget
        from . import settle

        settle.copy(new, path)
        forget("board.settle")
    if hasattr(os, "fsync"):
        from .folder import sync_folder

        sync_folder(path)


def write_whole(path, parts):
    """A file of the buffers that `parts` gives, whole or not at all."""
    written = False
    try:
        with open(temporary(path), "wb") as f:
            for part in parts:
                f.write(part)
            sync(f)
        written = True
    except OSError as e:
        if e.args and e.args[0] == 28:
            raise OSError("no room for %s in its file system, delete files there" % path)
        raise
    finally:
        if not written:
            remove(temporary(path))
    replace(path)


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
