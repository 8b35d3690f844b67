"""Small helpers of the labs. The same file works on a PC and on a board.

In a notebook pictures are drawn with matplotlib. Everywhere else they are made of letters.
"""

import struct
import sys
from array import array

NOTEBOOK = "ipykernel" in sys.modules
SHADES = " .:-=+*#%@"
FULL = 40  # letters of the longest bar
MOST = 127 * 256  # of a weight, in 256ths


def sample(data, i, length=256):
    """Sample i of a data set and its label: (bytearray, int)."""
    pixels = bytearray(length)
    label = data.read_into(i, pixels)
    return pixels, label


def show(pixels, width=16, title=""):
    """Draws one image, bytes from 0 (black) to 255 (white), row by row."""
    if NOTEBOOK:
        return _plot(lambda axes: axes.imshow(_rows(pixels, width), cmap="gray"), title, (2, 2))
    print(title)
    for row in _rows(pixels, width):
        # Every pixel twice: a letter is about twice as high as it is wide.
        print("".join(SHADES[value * len(SHADES) // 256] * 2 for value in row))


def bars(names, values, title=""):
    """Draws one bar for each value, none of them negative."""
    if NOTEBOOK:
        return _plot(lambda axes: axes.barh(names[::-1], values[::-1]), title, (5, 2.5))
    print(title)
    top = max(values) or 1
    for name, value in zip(names, values):
        print("%12s %8.3f %s" % (name, value, "#" * int(FULL * value / top + 0.5)))


def curve(xs, ys, title="", across="", up=""):
    """Draws values ys at the places xs, in their order."""
    if NOTEBOOK:
        return _plot(lambda axes: axes.plot(xs, ys, "o-"), title, (5, 3), across, up)
    print(title, "(%s, %s)" % (across, up) if across else "")
    low, high = min(ys), max(ys)
    for x, y in zip(xs, ys):
        place = int(FULL * (y - low) / ((high - low) or 1) + 0.5)
        print("%10s %8.4f |%s*" % (x, y, " " * place))


def confusion(model, data, n=None):
    """counts[label][answer] of the first n samples, a list of lists."""
    counts = [[0] * model.classes for _ in range(model.classes)]
    for i in range(min(n or len(data), len(data))):
        pixels, label = sample(data, i, model.sample_len)
        counts[label][model.predict(pixels)] += 1
    return counts


def table(counts, title=""):
    """Draws a confusion matrix: rows are labels, columns are answers."""
    if NOTEBOOK:

        def draw(axes):
            axes.imshow(counts, cmap="Blues")
            axes.set_xticks(range(len(counts)))
            most = max(max(line) for line in counts)
            axes.set_yticks(range(len(counts)))
            for row, line in enumerate(counts):
                for column, value in enumerate(line):
                    color = "white" if 2 * value > most else "black"
                    axes.text(column, row, value or "", ha="center", va="center", color=color)

        return _plot(draw, title, (4, 4), "answer", "label")
    print(title)
    print("label | answers 0, 1, 2, ...")
    for label, line in enumerate(counts):
        print("%5d |" % label + "".join("%4s" % (value or ".") for value in line))


def free():
    """Free bytes of the board's memory; None on a PC, which has plenty."""
    import gc

    gc.collect()
    return gc.mem_free() if hasattr(gc, "mem_free") else None


def new_file(name):
    """The name of a file that is not there: an old one is removed."""
    import os

    if name in os.listdir():
        os.remove(name)
    return name


def command(line):
    """Runs a command of microzo on the PC, such as "plan model.safetensors", and shows what it
    prints."""
    import subprocess

    done = subprocess.run(
        [sys.executable, "-m", "microzo_host.cli"] + line.split(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    print(done.stdout)
    if done.returncode:
        raise RuntimeError("microzo %s failed" % line)


def loss(model, data, n=16):
    """The mean loss of the first n samples: how wrong the model is, in nats."""
    total = 0
    for i in range(n):
        pixels, label = sample(data, i, model.sample_len)
        total += model.loss(pixels, label)
    return total / n


def means(model, data, op, n=32):
    """The mean output of every channel of one layer, over the first n samples."""
    from microzo.net import words

    channels = model.plan[words.op_base(op) + words.OUT_C]
    sums = [0] * channels
    count = 0
    for i in range(n):
        model.input(sample(data, i, model.sample_len)[0])
        model.forward(0, op + 1)
        for j, value in enumerate(model.output(op)):
            sums[j % channels] += value
            count += 1
    return [channels * total / count for total in sums]


class Weights:
    """The weights of one layer, which you may read and change by hand.

    They are int8: whole numbers from -127 to 127. A change smaller than 1 is remembered, in steps
    of 1/256; a value beyond 127 is remembered, too, and counts as 127.
    """

    def __init__(self, model, op):
        from microzo.net import arena, words

        model.reset()
        model.place([(op, words.WEIGHTS)])
        base = words.op_base(op)
        n = model.plan[base + words.OUT_C] * arena.row_len(model.plan, base)
        self._state = model.state
        self._begin = model.plan[base + words.MASTER_OFF]
        raw = bytes(memoryview(model.state)[self._begin : self._begin + 2 * n])
        self._used = array("h", raw)  # what the network computes with, 256ths
        self._values = array("i", self._used)

    def __len__(self):
        return len(self._values)

    def __getitem__(self, i):
        return self._values[i] / 256

    def __setitem__(self, i, value):
        self._values[i] = _whole(value)
        self._used[i] = max(-MOST, min(MOST, self._values[i]))
        struct.pack_into("<h", self._state, self._begin + 2 * i, self._used[i])

    def add(self, signs, step):
        """Adds step to every weight whose sign is 1, takes it from every other."""
        change = _whole(step)
        values, used = self._values, self._used
        for i in range(len(values)):
            value = values[i] + (change if signs[i] > 0 else -change)
            values[i] = value
            used[i] = value if -MOST <= value <= MOST else MOST if value > 0 else -MOST
        self._state[self._begin : self._begin + 2 * len(used)] = bytes(used)


def _whole(value):
    """256ths, rounded."""
    return int(value * 256 + (0.5 if value >= 0 else -0.5))


def signs(model, seed, n):
    """n random signs, -1 or 1. The same seed gives the same signs, on every machine."""
    out = bytearray(n)
    model.k.signs(seed, 0, 0, n, out)
    return array("b", out)


def _rows(pixels, width):
    return [list(pixels[i : i + width]) for i in range(0, len(pixels), width)]


def _plot(draw, title, size, across="", up=""):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=size)
    draw(axes)
    axes.set_title(title)
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    plt.show()
