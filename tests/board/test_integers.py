"""Integers against Python's own."""

import math
import struct

from microzo.board import integers

NUMBERS = [*range(70), *(n + d for n in (1 << 30, 1 << 31, 10**9, 1 << 62) for d in (-1, 0, 1))]


def test_signed_bytes():
    for value in range(-128, 128):
        assert integers.int8(value & 255) == integers.int8(value) == value


def test_words():
    for value in (0, 1, 255, 256, 32767, -1, -256, -32768):
        assert integers.int16(b"?" + struct.pack("<h", value), 1) == value
    for value in (0, 1, 65535, 1 << 24, (1 << 31) - 1, -1, -65536, -(1 << 31)):
        for form in ("B", "b"):
            assert integers.int32(memoryview(struct.pack("<i", value)).cast(form), 0) == value


def test_logarithms_and_roots():
    for n in NUMBERS:
        assert integers.bit_length(n) == n.bit_length()
        assert integers.log2(n) == max(0, n.bit_length() - 1)
        assert integers.root(n) == math.isqrt(n)
    for n in range(2000):
        assert integers.root(n * n) == n and integers.root(n * n + 2 * n) == n
