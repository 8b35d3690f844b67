"""Checks of arguments; integers in and out of buffers."""

import sys
from array import array
from struct import pack_into, unpack_from

INT_MAX = (1 << 31) - 1
_held = [array("b")]  # room that held() takes again and again


def require(condition, message):
    if not condition:
        raise ValueError(message)


def integer(value, low, high, name):
    """value, if it is an integer from low to high."""
    if not isinstance(value, int):
        raise TypeError(name + " must be an integer")
    if not low <= value <= high:
        raise ValueError("%s must be %d..%d" % (name, low, high))
    return value


def has(buf, length):
    """Whether buf has at least `length` bytes; TypeError if it is no buffer."""
    try:
        unpack_from("", buf, length)
    except TypeError:
        raise
    except Exception:
        return False
    return True


def check(buf, at, length, step=1):
    """buf holds `length` bytes from `at`, which is aligned to `step`."""
    require(at >= 0 and has(buf, at + length), "a buffer is too short")
    require(at % step == 0, "an offset is not aligned")


def check_out(buf, length=0):
    """buf is writable and holds `length` bytes."""
    pack_into("", buf, 0)
    check(buf, 0, length)


def bytes_in(buf, step):
    """Length of a buffer in bytes (MicroPython's memoryview does not tell): a multiple of step."""
    has(buf, 0)
    n = len(buf)
    for size in (8, 4, 2):
        if n and has(buf, n * size):
            n *= size
            break
    require(n % step == 0, "a buffer's length must be a multiple of %d bytes" % step)
    return n


def get(form, buf, at):
    return unpack_from(form, buf, at)[0]


def int8s(buf, at, count):
    """A copy as array('b'), by way of bytes: a tuple of integers would take eight times the room
    on a board."""
    return array("b", get("%ds" % count, buf, at))


def hold(count):
    """Takes the room for held(count), while the heap has blocks of that size."""
    if len(_held[0]) < count:
        _held[0] = array("b", bytes(count))


def held(buf, at, count):
    """A copy in array('b') that is good until the next one, and may be longer."""
    hold(count)
    if isinstance(buf, bytearray):
        whole = buf if sys.implementation.name == "cpython" else memoryview(buf)  # a slice copies
        pack_into("%ds" % count, _held[0], 0, whole[at : at + count])
    else:
        copy(buf, at, count, _held[0], 0)
    return _held[0]


def copy(source, at, count, target, to):
    """Copies bytes."""
    pack_into("%ds" % count, target, to, get("%ds" % count, source, at))
