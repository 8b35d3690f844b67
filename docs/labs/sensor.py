"""Accelerometers of lab 6: one that is simulated, and the driver of a real one.

Both have read(gesture): 32 readings of x, y, z in g (1 g is the pull of the earth), a list of 96
numbers. A real sensor takes what happens; the simulated one makes the gesture it is told.
"""

GESTURES = ("still", "wave", "circle")
READINGS = 32
ONE_G = 16384  # counts of the sensor, as a whole number
# A sine in 32 places, 256 times too large: whole numbers are the same on every computer.
SINE = (
    0, 50, 98, 142, 181, 213, 237, 251, 256, 251, 237, 213, 181, 142, 98, 50,
    0, -50, -98, -142, -181, -213, -237, -251, -256, -251, -237, -213, -181, -142, -98, -50,
)  # fmt: skip


class Simulated:
    """A sensor in the hand of someone who is never quite still.

    turned: how far it is turned around its z axis, in 32nds of a circle. seed: of the noise.
    """

    def __init__(self, turned=0, seed=1):
        self._cosine = SINE[(turned + 8) % 32]
        self._sine = SINE[turned % 32]
        self._state = seed

    def _random(self, low, high):
        self._state = (self._state * 1103515245 + 12345) & 0x3FFFFFFF
        return low + (self._state >> 12) % (high - low + 1)

    def read(self, gesture):
        name = GESTURES[gesture]
        begin, speed = self._random(0, 31), self._random(2, 3)
        size = self._random(ONE_G // 2, ONE_G) if name != "still" else 0
        values = []
        for i in range(READINGS):
            at = begin + i * speed
            x = size * SINE[at % 32] // 256
            y = size * SINE[(at + 8) % 32] // 256 if name == "circle" else 0
            turned = self._cosine * x - self._sine * y, self._sine * x + self._cosine * y
            for value in (turned[0] // 256, turned[1] // 256, ONE_G):
                values.append((value + self._random(-2000, 2000)) / ONE_G)
        return values


class MPU6050:
    """The accelerometer of an MPU-6050 (GY-521) at an I2C bus: machine.I2C(0, ...).

    It takes 50 readings a second, so that a gesture lasts 0.64 seconds, and says before which
    gesture it waits for.
    """

    ADDRESS = 0x68

    def __init__(self, i2c):
        self._i2c = i2c
        self._raw = bytearray(6)
        i2c.writeto_mem(self.ADDRESS, 0x6B, b"\x00")  # wake up; the range is 2 g

    def read(self, gesture=None):
        import time

        if gesture is not None:
            print("in one second make:", GESTURES[gesture])
            time.sleep_ms(1000)
        values = []
        for _ in range(READINGS):
            self._i2c.readfrom_mem_into(self.ADDRESS, 0x3B, self._raw)
            for i in (0, 2, 4):
                value = self._raw[i] << 8 | self._raw[i + 1]
                values.append((value - 65536 if value > 32767 else value) / ONE_G)
            time.sleep_ms(20)
        return values
