"""Records of the journal (SPEC.md, section 5): 12 bytes of header, payload, CRC-32."""

try:
    from micropython import const
except ImportError:

    def const(value):
        return value


HEADER = const(12)
CRC = const(4)

LAYOUT = const(1)  # what is trained, an octet an operator
RECIPE = const(2)  # the resolved program, JSON
STAGE = const(3)
ZO = const(4)
SET = const(5)
GRAD = const(6)
MARK = const(7)
KEEP = const(8)
ROLLBACK = const(9)
END = const(10)
ELASTIC = const(11)
NODE = const(12)
FILTER = const(13)
NAMES = (
    "?",
    "LAYOUT",
    "RECIPE",
    "STAGE",
    "ZO",
    "SET",
    "GRAD",
    "MARK",
    "KEEP",
    "ROLLBACK",
    "END",
    "ELASTIC",
    "NODE",
    "FILTER",
)

STEPS = (ZO, SET, GRAD, ELASTIC, NODE, FILTER)  # the types of a step
LIVE = const(1)  # flag of exact gradients: the samples came from step(x, y) and are gone


def new(kind, length, node=0, aux=0, flags=0):
    """An unsealed record with a payload of `length` zero bytes, at most 65535."""
    if length > 65535:
        raise ValueError("a journal record of %d bytes is too long, at most 65535" % length)
    rec = bytearray(HEADER + length + CRC)
    rec[0] = kind
    rec[1] = flags
    put16(rec, 2, length)
    put16(rec, 8, node)
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
