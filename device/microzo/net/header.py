"""Entries that an importer puts into the header of a model file: a board reads one when asked."""

import json

from ..board import files

_BLOCK = 256
_MOST = 8192  # bytes of an entry


def entry(path, key):
    """The value of `key` in the file's metadata, None if it has none."""
    mark = ('"%s":"' % key).encode()
    with open(path, "rb") as f:
        head = bytearray(8)
        files.fill(f, head, 8, path)
        left = head[0] | head[1] << 8 | head[2] << 16
        window = b""
        while left:
            part = f.read(min(_BLOCK, left))
            if not part:
                return None
            left -= len(part)
            window += part
            at = window.find(mark)
            if at < 0:
                window = window[-len(mark) :]
                continue
            window = window[at + len(mark) :]
            while len(window) < _MOST:
                end = _end(window)
                if end >= 0:
                    return json.loads(json.loads('"%s"' % window[:end].decode()))
                part = f.read(_BLOCK)
                if not part:
                    return None
                window += part
            return None
    return None


def _end(text):
    """Place of the quote that ends a JSON string, -1 if it is not there."""
    i = 0
    while i < len(text):
        if text[i] == 0x5C:  # a backslash and what it stands before
            i += 1
        elif text[i] == 0x22:
            return i
        i += 1
    return -1
