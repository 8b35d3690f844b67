"""A microphone on I2S, as samples for a model: the energies of octave bands over time.

    mpremote run device/examples/sensor_microphone.py

It needs model.safetensors, whose input has a row for each frame and a column for each band. It
adapts to room and microphone without labels. The network must have been trained on the same
features; `bands` runs on a PC, too.
"""

from array import array

import microzo

RATE = 16_000  # values a second
FRAME = 512  # of them in a row of a sample, 32 ms; a power of two
SAMPLES = 64


def log2(n):
    """8 * log2(n), at least 0: 3 bits behind the point, linear between powers of two."""
    if n < 1:
        return 0
    bits = 0
    while n >> bits + 1:
        bits += 1
    return 8 * bits + ((n << 3 >> bits) & 7)


def bands(frame, out, at, count):
    """Fills out[at:at + count] with the energies of octaves, the highest first: 8 * log2. A Haar
    transform in integers; `frame`, an array of len 2^n >= 2^count, is used up."""
    n = len(frame)
    for band in range(count):
        n >>= 1
        energy = 0
        for i in range(n):
            a, b = frame[2 * i], frame[2 * i + 1]
            d = a - b >> 1
            energy += d * d >> 9  # so that the sum stays a small integer of a board
            frame[i] = a + b >> 1
        out[at + band] = log2((energy << 9) // n)


class Microphone:
    """read_into(buf) listens for one sample: rows of band energies."""

    def __init__(self, model):
        import machine

        self._rows, self._bands, channels = model.shape
        if channels != 1 or 1 << self._bands > FRAME:
            raise ValueError("the model takes %s, not rows of at most 9 bands" % (model.shape,))
        self._i2s = machine.I2S(
            0, sck=machine.Pin(16), ws=machine.Pin(17), sd=machine.Pin(18), mode=machine.I2S.RX,
            bits=16, format=machine.I2S.MONO, rate=RATE, ibuf=8 * FRAME,
        )  # fmt: skip
        self._frame = array("h", bytearray(2 * FRAME))

    def read_into(self, buf):
        for row in range(self._rows):
            self._i2s.readinto(self._frame)  # waits until the frame is full
            bands(self._frame, buf, row * self._bands, self._bands)


def main():
    model = microzo.load("model.safetensors")
    names = model.names()
    microphone = Microphone(model)
    trainer = microzo.Trainer(model, "realign")
    sample = bytearray(model.sample_len)
    for n in range(SAMPLES):
        microphone.read_into(sample)
        step = trainer.step(sample)
        if step.learned or n % 8 == 7:
            print(n + 1, names[step.answer], step)
    for line in trainer.outcomes():
        print(line)


if __name__ == "__main__":
    main()
