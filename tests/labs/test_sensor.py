"""The sensors of lab 6: the driver over a simulated bus, and the simulated one."""

import runpy
import struct
import time

import pytest

from microzo_host.labs import sheets

SENSOR = runpy.run_path(str(sheets.folder() / "sensor.py"))


class Bus:
    """An I2C bus with an MPU-6050 that sleeps until it is woken."""

    def __init__(self):
        self.reads = 0
        self._awake = False

    def writeto_mem(self, address, register, data):
        assert address == 0x68
        self._awake = self._awake or (register, data) == (0x6B, b"\x00")

    def readfrom_mem_into(self, address, register, buffer):
        assert self._awake and (address, register, len(buffer)) == (0x68, 0x3B, 6)
        struct.pack_into(">hhh", buffer, 0, 16384, -16384, self.reads)
        self.reads += 1


def test_the_driver_reads_signed_counts_of_three_axes(monkeypatch, capsys):
    waits = []
    monkeypatch.setattr(time, "sleep_ms", waits.append, raising=False)
    bus = Bus()
    values = SENSOR["MPU6050"](bus).read(1)
    assert values[0::3] == [1.0] * 32 and values[1::3] == [-1.0] * 32
    assert values[2::3] == [i / 16384 for i in range(32)]
    assert waits == [1000] + [20] * 32 and "make: wave" in capsys.readouterr().out


@pytest.mark.parametrize("turned", [0, 8])
def test_a_wave_is_along_one_axis_and_a_circle_along_both(turned):
    hand = SENSOR["Simulated"](turned)

    def power(gesture):
        values = hand.read(gesture)
        assert len(values) == 96
        return [sum(v * v for v in values[axis::3]) for axis in (0, 1)]

    (still, wave, circle) = (power(gesture) for gesture in range(3))
    along, across = (wave, wave[::-1])[turned == 8]
    assert max(still) < 1 and along > 2 > across
    assert min(circle) > 2


def test_the_same_seed_gives_the_same_samples():
    one, other, third = (SENSOR["Simulated"](0, seed) for seed in (1, 1, 2))
    sample = one.read(2)
    assert other.read(2) == sample != third.read(2)
