"""Runs a case file (see caseformat.py) against a module; MicroPython and CPython.

run("_microzo", "cases.bin")    prints every mismatch and a last line "DONE cases mismatches"
"""

import gc
import struct
import sys
from array import array

OK, VALUE_ERROR, TYPE_ERROR, ANY, MAYBE = range(5)
_NAMES = ("returned", "ValueError", "TypeError")
_GUARD = 16


def load(name):
    module = __import__(name)
    for part in name.split(".")[1:]:
        module = getattr(module, part)
    try:  # what a native module leaves to a second one
        second = __import__(name + "_grad")
    except ImportError:
        return module
    for entry in dir(second):
        if entry[0] != "_":
            setattr(module, entry, getattr(second, entry))
    return module


def crc_function(module):
    """crc(buf, lo, hi): low 30 bits of the CRC-32."""
    try:
        from binascii import crc32
    except ImportError:
        return module.crc32
    return lambda buf, lo, hi: crc32(memoryview(buf)[lo:hi]) & 0x3FFFFFFF


def guarded(data, shift):
    whole = bytearray(b"\xa5" * (2 * _GUARD + shift + len(data)))
    whole[_GUARD + shift : _GUARD + shift + len(data)] = data
    return whole, memoryview(whole)[_GUARD + shift : _GUARD + shift + len(data)]


class Reader:
    """Reads the values of a case file from a stream."""

    def __init__(self, stream):
        self.stream = stream

    def unpack(self, form):
        return struct.unpack(form, self.stream.read(struct.calcsize(form)))

    def arg(self, made):
        """(object, None) or, for a buffer, (object, (length, lo, hi, crc, whole, bytes view))."""
        tag = self.stream.read(1)
        if tag == b"#":
            return self.unpack("<q")[0], None
        if tag == b"0":
            return None, None
        if tag == b".":
            return 1.5, None
        if tag == b"@":
            return made[self.unpack("<B")[0]], None
        length, lo, hi, crc = self.unpack("<4I")
        data = self.stream.read(length)
        whole = None
        if tag == b"M" or tag == b"U":
            whole, obj = guarded(data, 1 if tag == b"U" else 0)
        elif tag == b"B":
            obj = bytearray(data)
        elif tag == b"R":
            obj = data
        else:
            obj = array(tag.decode(), data)
        return obj, (length, lo, hi, crc, whole)


def content(obj, length):
    """The bytes of any buffer."""
    return obj if len(obj) == length else bytes(obj)


def run_case(module, crc, reader):
    """Runs the next case; None or what went wrong."""
    name = reader.stream.read(reader.unpack("<B")[0]).decode()
    expect, value, count = reader.unpack("<BiB")
    made = []
    buffers = []
    for i in range(count):
        obj, info = reader.arg(made)
        made.append(obj)
        if info:
            buffers.append((i, obj, info, crc(content(obj, info[0]), 0, info[0])))
    try:
        got = getattr(module, name)(*made)
        outcome = OK
    except (ValueError, OverflowError):
        outcome = VALUE_ERROR
        got = 0
    except TypeError:
        outcome = TYPE_ERROR
        got = 0
    if expect == MAYBE:
        expect = VALUE_ERROR if outcome == VALUE_ERROR else OK
    for i, obj, (length, lo, hi, wanted, whole), before in buffers:
        if whole is not None:
            at = len(whole) - _GUARD
            if whole[:_GUARD] != b"\xa5" * _GUARD or whole[at:] != b"\xa5" * _GUARD:
                return f"{name} wrote outside argument {i}"
        if outcome != OK and crc(content(obj, length), 0, length) != before:
            return f"{name} raised but changed argument {i}"
        if outcome == OK == expect and crc(content(obj, length), lo, hi) != wanted:
            return f"{name}: argument {i} differs"
    if expect != ANY and outcome != expect:
        return f"{name}: {_NAMES[outcome]}, not {_NAMES[expect]}"
    if expect == OK and got != value:
        return f"{name} returned {got}, not {value}"
    return None


def run_stream(module, stream):
    """Yields None or a mismatch for every case."""
    reader = Reader(stream)
    if stream.read(4) != b"MZC1":
        raise ValueError("this is no case file")
    crc = crc_function(module)
    for _ in range(reader.unpack("<H")[0]):
        yield run_case(module, crc, reader)
        if sys.implementation.name != "cpython":
            gc.collect()  # a module that the collector would take apart shows here


def run(name, path):
    module = load(name)
    count = bad = 0
    with open(path, "rb") as f:
        for mismatch in run_stream(module, f):
            if mismatch:
                bad += 1
                print("MISMATCH", count, mismatch)
            count += 1
    print("DONE", count, bad)


if __name__ == "__main__" and len(sys.argv) == 3:
    run(sys.argv[1], sys.argv[2])
