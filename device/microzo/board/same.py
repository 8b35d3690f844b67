"""Tells whether two names are of the same file; imported for that alone."""

import os
import sys


def same(a, b):
    """True if two paths name the same file, which need not exist."""
    one = identity(a)
    return plain(a) == plain(b) or one is not None and one == identity(b)


def plain(path):
    """One spelling for all of a file: absolute, in small letters, without what FAT leaves out.

    On a file system that tells large from small letters two files may get the same: better one
    name that is refused than a file that is lost.
    """
    path = str(path)
    if sys.implementation.name == "cpython":
        path = os.path.realpath(path)
    path = path.replace("\\", "/")
    if path[:1] != "/":
        path = os.getcwd() + "/" + path
    parts = []
    for part in path.lower().split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part.rstrip(". "):
            parts.append(part.rstrip(". "))
    return "/".join(parts)


def identity(path):
    """(device, file number) of a file that is there, where the system has numbers: links to it
    have the same. Else None."""
    try:
        stat = os.stat(path)
    except (OSError, ValueError):
        return None
    return (stat[2], stat[1]) if stat[1] else None
