"""An accelerometer with a FIFO on I2C (MPU-6050), as samples for a model; records a class.

    mpremote exec "label = 2" run device/examples/sensor_accelerometer.py
    microzo record auto device/examples/sensor_accelerometer.py

The second one records class 0 on this computer. It needs model.safetensors, whose input is N
readings of x, y, z in g. For another sensor change the registers.
"""

import time

import machine

import microzo

ADDRESS = 0x68
USER_CTRL, FIFO_EN, FIFO_COUNT, FIFO, POWER, RATE = 0x6A, 0x23, 0x72, 0x74, 0x6B, 0x19
ONE_G = 16384  # of a reading, in the range of +-2 g
SAMPLES = 20


class Accelerometer:
    """read_into(buf) waits for the next window of readings and encodes it for the model.

    The FIFO collects them meanwhile: none is lost while the model trains, up to its 1,024 bytes.
    """

    def __init__(self, model, rate=50):
        self._i2c = machine.I2C(0, scl=machine.Pin(9), sda=machine.Pin(8), freq=400_000)
        self._model = model
        self._count = model.sample_len // 3
        self._reading = bytearray(6)
        self._two = bytearray(2)
        self._values = [0.0] * (3 * self._count)
        self._write(POWER, 1)
        self._write(RATE, 1000 // rate - 1)
        self._write(FIFO_EN, 8)  # the accelerometer alone
        self.clear()

    def _write(self, register, value):
        self._i2c.writeto_mem(ADDRESS, register, bytes((value,)))

    def clear(self):
        """Forgets what was measured until now."""
        self._write(USER_CTRL, 0x44)  # resets the FIFO, and lets it run

    def waiting(self):
        """Readings in the FIFO; after an overflow it starts anew."""
        self._i2c.readfrom_mem_into(ADDRESS, FIFO_COUNT, self._two)
        n = self._two[0] << 8 | self._two[1]
        if n >= 1024:
            self.clear()
            return 0
        return n // 6

    def read_into(self, buf):
        at = 0
        while at < len(self._values):
            for _ in range(min(self.waiting(), self._count - at // 3)):
                self._i2c.readfrom_mem_into(ADDRESS, FIFO, self._reading)
                for axis in range(0, 6, 2):
                    high = self._reading[axis] ^ 128
                    raw = (high << 8 | self._reading[axis + 1]) - 32768
                    self._values[at] = raw / ONE_G
                    at += 1
            if at < len(self._values):
                time.sleep(0.01)
        self._model.encode(self._values, buf)


def main(label):
    model = microzo.load("model.safetensors")
    sensor = Accelerometer(model)
    sample = bytearray(model.sample_len)
    print("recording class %s" % model.names()[label])
    with microzo.Recorder("x.npy", "y.npy", model) as recorder:
        for _ in range(SAMPLES):
            sensor.read_into(sample)
            recorder.append(sample, label)
        print(recorder)


if __name__ == "__main__":
    main(globals().get("label", 0))
