"""A camera that gives grey frames over SPI, as samples for a model; adapts to what it sees.

    mpremote run device/examples/sensor_camera.py

It needs model.safetensors on the board. For another camera change `Camera.__init__` and the line
with `readinto`: any driver that fills a buffer with rows of grey bytes will do.
"""

import machine

import microzo

ROWS, COLUMNS = 96, 96  # of a frame
SAMPLES = 64  # frames; None: until Ctrl-C


class Camera:
    """read_into(buf) fills buf with a sample: the frame, averaged to the model's rows and columns.

    The frame has at least as many of each; what does not divide is cut off at its edges.
    """

    def __init__(self, model, rows=ROWS, columns=COLUMNS):
        self._bus = machine.SPI(0, baudrate=8_000_000)
        self._select = machine.Pin(17, machine.Pin.OUT, value=1)
        self._columns = columns
        self._frame = bytearray(rows * columns)
        self._h, self._w, channels = model.shape
        self._tall, self._wide = rows // self._h, columns // self._w
        if channels != 1 or not self._tall or not self._wide:
            raise ValueError("the model takes %d x %d x %d, no frame of %d x %d" % (
                self._h, self._w, channels, rows, columns))  # fmt: skip
        top, left = rows - self._tall * self._h >> 1, columns - self._wide * self._w >> 1
        self._first = top * columns + left

    def read_into(self, buf):
        self._select(0)
        self._bus.readinto(self._frame)
        self._select(1)
        frame, columns, wide = self._frame, self._columns, self._wide
        count = self._tall * wide
        for r in range(self._h):
            for c in range(self._w):
                at = self._first + r * self._tall * columns + c * wide
                total = 0
                for _ in range(self._tall):
                    for i in range(at, at + wide):
                        total += frame[i]
                    at += columns
                buf[r * self._w + c] = total // count


def main():
    model = microzo.load("model.safetensors")
    names = model.names()
    camera = Camera(model)
    trainer = microzo.Trainer(model, "refilter")  # needs no labels
    sample = bytearray(model.sample_len)
    n = 0
    while SAMPLES is None or n < SAMPLES:
        camera.read_into(sample)
        step = trainer.step(sample)
        n += 1
        if step.learned or n % 8 == 0:
            print(n, names[step.answer], step)
    for line in trainer.outcomes():
        print(line)


if __name__ == "__main__":
    main()
