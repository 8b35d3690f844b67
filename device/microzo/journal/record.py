"""Records of the journal (SPEC.md, section 5): 12 bytes of header, payload, CRC-32."""

try:
    from micropython import const
except ImportError:

    def const(value):
        return value


HEADER = const(12)
CRC = const(4)

RECIPE = const(1)  # the resolved program, JSON
STAGE = const(2)  # its number, and the step sizes that were measured
MARK = const(3)
KEEP = const(4)
ROLLBACK = const(5)
END = const(6)
STEP = const(7)  # coefficients, shifts, indices of samples: what its stage writes
VALUES = const(8)  # values that take the place of an operator's
NAMES = ("?", "RECIPE", "STAGE", "MARK", "KEEP", "ROLLBACK", "END", "STEP", "VALUES")

LIVE = const(1)  # flag of exact gradients: the samples came from step(x, y) and are gone


def new(kind, length, board_id=0, aux=0, flags=0):
    """An unsealed record with a payload of `length` zero bytes, at most 65535."""
    if length > 65535:
        raise ValueError("a journal record of %d bytes is too long, at most 65535" % length)
    rec = bytearray(HEADER + length + CRC)
    rec[0] = kind
    rec[1] = flags
    put16(rec, 2, length)
    put16(rec, 8, board_id)
    put16(rec, 10, aux)
    return rec


def put16(buf, at, value):
    buf[at] = value & 255
    buf[at + 1] = value >> 8 & 255


def put32(buf, at, value):
    put16(buf, at, value)
    put16(buf, at + 2, value >> 16)


def get16(buf, at):
    """Unsigned."""
    return buf[at] | buf[at + 1] << 8


def get16s(buf, at):
    value = buf[at] | buf[at + 1] << 8
    return value - 65536 if value > 32767 else value


def get32(buf, at):
    """Of a value in [0, 2^30)."""
    return get16(buf, at) | get16(buf, at + 2) << 16


def payload(rec):
    """View of the payload; 32-bit values in it are aligned."""
    return memoryview(rec)[HEADER : len(rec) - CRC]
