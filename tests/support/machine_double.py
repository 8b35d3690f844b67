"""A `machine` for tests: a camera, an accelerometer, a microphone and a person at two buttons.

It is put on the path of an interpreter as machine.py. world_x.npy and world_y.npy, beside the
script, are what there is to see.
"""

import microzo

LEDS, WRONG, RIGHT = (2, 3, 4, 5), 14, 15  # as in live_button.py
FRAME = 96  # rows and columns


class _World:
    """label: of the picture that was taken last; readings: of the accelerometer, so far."""

    def __init__(self):
        self.data = None
        self.at = self.label = self.readings = self.frames = 0
        self.levels = {}
        self.pressed = False

    def next(self):
        if self.data is None:
            self.data = microzo.Dataset("world_x.npy", "world_y.npy")
        sample = bytearray(self.data.sample_len)
        self.label = self.data.read_into(self.at % len(self.data), sample)
        self.at += 1
        return sample, self.data.shape

    def press(self, pin):
        """0 if the person presses that button, and then 1: it is released."""
        shown = sum(self.levels.get(led, 0) << bit for bit, led in enumerate(LEDS))
        wanted = RIGHT if shown == self.label else WRONG
        self.pressed = pin == wanted and not self.pressed
        return 0 if self.pressed else 1


world = _World()


class Pin:
    IN, OUT, PULL_UP = 0, 1, 2

    def __init__(self, pin, mode=IN, pull=None, value=0):
        self._pin, self._mode = pin, mode
        if mode == Pin.OUT:
            self.value(value)

    def value(self, level=None):
        if level is not None:
            world.levels[self._pin] = level
        elif self._mode == Pin.IN:
            return world.press(self._pin)
        return world.levels.get(self._pin, 0)

    __call__ = value


class SPI:
    """The camera, while pin 17 is low: each read is the next picture, enlarged, in the middle."""

    def __init__(self, number, baudrate):
        pass

    def readinto(self, buf):
        assert world.levels[17] == 0 and len(buf) == FRAME * FRAME
        sample, (h, w, _) = world.next()
        n = FRAME // max(h, w)
        top, left = (FRAME - n * h) // 2, (FRAME - n * w) // 2
        for r in range(h):
            line = b"".join(bytes((v,)) * n for v in sample[r * w : (r + 1) * w])
            for k in range(n):
                at = (top + r * n + k) * FRAME + left
                buf[at : at + len(line)] = line


def reading(k):
    """The k-th of the accelerometer: three int16."""
    return [(k * step % 4001 - 2000) * 8 for step in (37, 101, 211)]


class I2C:
    """An MPU-6050: its FIFO gets three readings between two looks, from its reset on."""

    def __init__(self, number, scl, sda, freq):
        self._registers = {}
        self._fifo = bytearray()

    def writeto_mem(self, address, register, data):
        assert address == 0x68
        self._registers[register] = data[0]
        if register == 0x6A and data[0] & 4:
            self._fifo = bytearray()

    def readfrom_mem_into(self, address, register, buf):
        assert address == 0x68 and self._registers[0x6B] == 1 and self._registers[0x23] == 8
        if register == 0x72:
            for _ in range(3):
                for v in reading(world.readings):
                    self._fifo += bytes((v >> 8 & 255, v & 255))
                world.readings += 1
            n = min(1024, len(self._fifo))
            buf[:] = bytes((n >> 8, n & 255))
        else:
            assert register == 0x74 and len(self._fifo) >= len(buf)
            buf[:] = self._fifo[: len(buf)]
            self._fifo = self._fifo[len(buf) :]


class I2S:
    """A square wave; the period of frame k is 4 << k % 4."""

    RX, MONO = 1, 0

    def __init__(self, number, sck, ws, sd, mode, bits, format, rate, ibuf):
        assert (mode, bits, format) == (I2S.RX, 16, I2S.MONO)

    def readinto(self, buf):
        half = 2 << world.frames % 4
        world.frames += 1
        for i in range(len(buf)):
            buf[i] = 8000 if i // half & 1 else -8000
        return 2 * len(buf)
