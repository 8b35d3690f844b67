"""Cases for the kernels: one call of the native API, its buffers, and what must come out.

Written to a file that device_runner.py reads on every target. The file: b"MZC1", uint16 count,
then for each case

    uint8 length, function name
    uint8 expectation, int32 value: OK (returns value), VALUE_ERROR, TYPE_ERROR, ANY (may raise or
    not),
        MAYBE (as OK, or ValueError)
    uint8 number of arguments, then each: a tag and what belongs to it
        # int64   0 (None)   . (1.5)   @ uint8 (the same object as that argument)
        a buffer: uint32 length, lo, hi, crc, then the content. After a call that succeeds, the
        CRC-32 of bytes lo..hi-1 (its low 30 bits) must be crc; after one that raises, nothing may
        have changed.
"""

import struct
import zlib
from array import array
from dataclasses import dataclass, field

OK, VALUE_ERROR, TYPE_ERROR, ANY, MAYBE = range(5)

GUARDED = "M"  # memoryview into a bytearray with guard bytes on both sides
MISALIGNED = "U"  # the same, at an odd address
BYTEARRAY = "B"
READ_ONLY = "R"  # bytes
ARRAYS = "bhHiq"  # array.array of that type code


@dataclass
class Buf:
    """A buffer argument; `region` = (lo, hi) is what the oracle and the target must agree on."""

    data: bytes
    kind: str = GUARDED
    region: tuple = None

    def span(self):
        return self.region or (0, len(self.data))


@dataclass
class Alias:
    """The same object as argument number `index`."""

    index: int


@dataclass
class Case:
    function: str
    args: list
    expect: int = OK
    value: int = 0
    crcs: list = field(default_factory=list)

    def replaced(self, index, arg):
        """A copy with one argument changed."""
        return Case(self.function, [arg if i == index else a for i, a in enumerate(self.args)])


def crc30(data):
    return zlib.crc32(data) & 0x3FFFFFFF


def call_args(args):
    """The arguments as Python objects."""
    made = []
    for arg in args:
        if isinstance(arg, Alias):
            made.append(made[arg.index])
        elif isinstance(arg, Buf):
            made.append(buffer(arg))
        else:
            made.append(arg)
    return made


def buffer(arg):
    if arg.kind in ARRAYS:
        return array(arg.kind, arg.data)
    if arg.kind == MISALIGNED:
        return memoryview(bytearray(b"\0" + arg.data))[1:]
    return bytes(arg.data) if arg.kind == READ_ONLY else bytearray(arg.data)


def judge(case, oracle):
    """Fills in what the oracle says: expectation, value, CRC of every buffer."""
    made = call_args(case.args)
    try:
        case.value = getattr(oracle, case.function)(*made)
        case.expect = OK
    except (ValueError, OverflowError):
        case.expect, case.value = VALUE_ERROR, 0
    except TypeError:
        case.expect, case.value = TYPE_ERROR, 0
    case.crcs = [
        crc30(bytes(made[i])[slice(*arg.span())]) if isinstance(arg, Buf) else 0
        for i, arg in enumerate(case.args)
    ]
    return case


def pack(case):
    name = case.function.encode()
    out = [
        struct.pack("<B", len(name)),
        name,
        struct.pack("<BiB", case.expect, case.value, len(case.args)),
    ]
    for i, arg in enumerate(case.args):
        if isinstance(arg, Buf):
            crc = case.crcs[i] if case.crcs else 0
            out += [
                arg.kind.encode(),
                struct.pack("<4I", len(arg.data), *arg.span(), crc),
                bytes(arg.data),
            ]
        elif isinstance(arg, Alias):
            out.append(b"@" + bytes([arg.index]))
        elif arg is None:
            out.append(b"0")
        elif isinstance(arg, float):
            out.append(b".")
        else:
            out.append(b"#" + struct.pack("<q", arg))
    return b"".join(out)


def pack_all(cases):
    return b"MZC1" + struct.pack("<H", len(cases)) + b"".join(map(pack, cases))
