"""Tells whether two names are of the same file; imported for that alone."""

import os


def same(a, b):
    """True if two paths name the same file, which need not exist."""
    if _full(a) == _full(b):
        return True
    try:
        one, other = os.stat(a), os.stat(b)
    except OSError:
        return False
    return one[1] != 0 and one[1:3] == other[1:3]  # of a PC; boards number no files


def _full(path):
    """From the root on, without "." and ".."; small letters, which FAT takes for capitals."""
    path = "%s" % path
    if not path.startswith("/"):
        path = os.getcwd() + "/" + path
    parts = []
    for part in path.lower().split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return parts
