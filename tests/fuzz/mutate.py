"""Mutations of bytes, of 32-bit words and of JSON."""

import copy
import json
import struct

EXTREMES = (
    0, 1, -1, 2, 3, 127, 128, 255, 256, 32767, 65535, 65536, 1 << 24, 1 << 30, -(1 << 30),
    (1 << 31) - 1, -(1 << 31), -128,
)  # fmt: skip
ODD = (
    None, True, "", "x", "all", [], {}, [[]], -1, 0, 1, 255, 65536, 1 << 31, 1 << 70, 1.5, -0.0,
    1e400, "\x1b[2J", "x" * 5000, [0] * 300,
)  # fmt: skip


def data(rng, raw):
    """A copy with one to four wounds."""
    raw = bytearray(raw)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if not raw:
            break
        kind, at = rng.randrange(7), rng.randrange(len(raw))
        if kind == 0:
            raw[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            raw[at] = rng.randrange(256)
        elif kind == 2:
            words(rng, raw, 0, len(raw))
        elif kind == 3:
            del raw[at:]
        elif kind == 4:
            other, n = rng.randrange(len(raw)), rng.choice((1, 4, 8, 64))
            raw[at : at + n] = raw[other : other + n]
        elif kind == 5:
            del raw[at : at + rng.choice((1, 4, 16))]
        else:
            raw[at:at] = rng.randbytes(rng.choice((1, 4, 16)))
    return bytes(raw)


def words(rng, raw, begin, end):
    """One little-endian int32 between two offsets of a bytearray changed in place."""
    if end - begin < 4:
        return
    at = begin + 4 * rng.randrange((end - begin) // 4)
    old = struct.unpack_from("<i", raw, at)[0]
    value = rng.choice(
        (rng.choice(EXTREMES), old + rng.choice((-4, -1, 1, 4)), rng.randint(-9, 99))
    )
    struct.pack_into("<i", raw, at, max(-(1 << 31), min((1 << 31) - 1, value)))


def tree(rng, value):
    """A JSON value with one to three of its parts changed."""
    value = json.loads(json.dumps(value))
    for _ in range(rng.choice((1, 1, 2, 3))):
        value = _changed(rng, value)
    return value


def _changed(rng, value):
    if not isinstance(value, dict | list) or not value or rng.random() < 0.1:
        return _other(rng, value)
    key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
    chance = rng.random()
    if chance < 0.08:
        del value[key]
    elif chance < 0.14 and isinstance(value, dict):
        value[rng.choice(("x", "kind", "guard", "mask", "steps", "", "shape"))] = value[key]
    elif chance < 0.2 and isinstance(value, list):
        value.append(value[key])
    else:
        value[key] = _changed(rng, value[key])
    return value


def _other(rng, value):
    if isinstance(value, int) and rng.random() < 0.7:
        return rng.choice((rng.choice(EXTREMES), value + rng.choice((-1, 1)), 2 * value))
    return copy.deepcopy(rng.choice(ODD))  # the next change may be one of it
