"""The CPython shell: values worked out by hand, and what it accepts and refuses."""

import subprocess
import sys
import zlib
from array import array

import numpy as np
import pytest

native = pytest.importorskip("microzo_host.native")

POOL = """
import multiprocessing
from microzo_host import native
with multiprocessing.get_context("{}").Pool(1) as pool:
    print(pool.apply(native.derive, (5, 6, 7)))
"""
HALF = 1 << 30  # the multiplier 0.5


def requant(values, mult, shift):
    out = array("i", bytes(4 * len(values)))
    native.requant(array("i", values), mult, shift, out)
    return out.tolist()


def test_requant_rounds_the_high_multiply_half_up_and_the_shift_half_away():
    assert requant([5, -5, 4, -4, 1, -1], HALF, 0) == [3, -2, 2, -2, 1, 0]
    # 12 * 0.5 = 6, 6 / 4 = 1.5 -> 2; -1.5 -> -2; 5 / 4 -> 1; 20 / 8 = 2.5 -> 3
    assert requant([12, -12, 10, -10], HALF, -2) == [2, -2, 1, -1]
    assert requant([40, -40], HALF, -3) == [3, -3]


def test_requant_at_the_ends():
    top, bottom = (1 << 31) - 1, -(1 << 31)
    assert requant([top, bottom, 1], top, 30) == [top - 1, bottom + 1, 1 << 30]
    assert requant([top, bottom], HALF, -31) == [1, -1]
    assert requant([top, bottom], 0, -31) == [0, 0]


def test_signs_take_bit_q_plus_8b():
    signs = bytearray(32)
    native.signs(1, 4, 0, 32, signs)
    for row, k in ((1, 32), (0, 33)):
        longer = bytearray(k)
        native.signs(1, 4, row, k, longer)
        assert (longer[:32] == signs) == (row == 0)
    assert set(signs) <= {1, 255} and len(set(signs)) == 2


def test_checksums():
    record = bytearray(b"123456789....")
    assert native.crc32(record, 0, 9) == zlib.crc32(b"123456789") & 0x3FFFFFFF
    native.seal(record, 9)
    assert record[9:] == zlib.crc32(b"123456789").to_bytes(4, "little")
    assert native.check_seal(bytes(record), 9) == 1
    record[0] ^= 1
    assert native.check_seal(record, 9) == 0


@pytest.mark.parametrize(
    "kind",
    [bytes, bytearray, memoryview, lambda b: array("B", b), lambda b: np.frombuffer(b, "u1")],
)
def test_any_byte_buffer_is_read(kind):
    assert native.crc32(kind(b"123456789"), 0, 9) == zlib.crc32(b"123456789") & 0x3FFFFFFF


@pytest.mark.parametrize(
    "error, call",
    [
        (TypeError, lambda: native.derive(1, 2)),
        (TypeError, lambda: native.derive(1, None, 2)),
        (TypeError, lambda: native.derive(1, 2.0, 2)),
        (TypeError, lambda: native.crc32("text", 0, 1)),
        (TypeError, lambda: native.seal(b"read-only...", 2)),
        (TypeError, lambda: native.shuffle(1, array("f", [1, 2]))),
        (TypeError, lambda: native.shuffle(1, array("i", [1, 2]))),
        (TypeError, lambda: native.shuffle(1, np.arange(8, dtype="u2")[::2])),
        (ValueError, lambda: native.derive(1 << 30, 2, 2)),
        (ValueError, lambda: native.derive(-(1 << 80), 2, 2)),
        (ValueError, lambda: native.crc32(b"123", 0, 4)),
        (ValueError, lambda: native.requant(b"1234", HALF, 0, bytearray(3))),
        (ValueError, lambda: native.requant(b"1234", HALF - 1, 0, bytearray(4))),
    ],
)
def test_wrong_arguments_are_refused(error, call):
    with pytest.raises(error) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_writable_buffer_may_not_overlap_another():
    both = memoryview(bytearray(16))
    with pytest.raises(ValueError, match="overlaps"):
        native.requant(both[:8], HALF, 0, both[4:12])
    native.requant(both[:8], HALF, 0, both[8:])


def test_unaligned_items_are_refused():
    raw = memoryview(bytearray(16))
    with pytest.raises(ValueError, match="aligned"):
        native.shuffle(1, raw[1:9])


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_use_the_same_kernels(method):
    """In a process of its own: a fork of one with threads, as a worker of pytest is, may stop."""
    done = subprocess.run(
        [sys.executable, "-c", POOL.format(method)], capture_output=True, text=True, timeout=30
    )
    assert done.stdout.split() == [str(native.derive(5, 6, 7))], done.stderr
