"""Integer helpers that board and host share: signed octets, logarithms, roots."""


def int8(octet):
    """The signed value of an octet 0..255, or of a byte that is signed already."""
    return octet - 256 if octet > 127 else octet


def int32(buf, at):
    """Signed little-endian 32-bit value at byte `at`; the items of buf may be signed."""
    value = buf[at] & 255 | (buf[at + 1] & 255) << 8 | (buf[at + 2] & 255) << 16
    return value | (buf[at + 3] & 255 ^ 128) - 128 << 24


def bit_length(n):
    """Bits of n >= 0 in binary, 0 for 0."""
    bits = 0
    while n:
        n >>= 1
        bits += 1
    return bits


def log2(n):
    """Rounded down; 0 for 0 and negative numbers."""
    return max(0, bit_length(n) - 1) if n > 0 else 0


def log2_up(n):
    """The least b with 2^b >= n."""
    return bit_length(n - 1) if n > 1 else 0


def root(n):
    """Square root of n >= 0, rounded down."""
    x = n
    y = (x + 1) >> 1
    while y < x:
        x = y
        y = (x + n // x) >> 1
    return x
