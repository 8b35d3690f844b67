"""Broken and hostile files: one sentence or a sound model, in bounded time and memory."""

import os
import random
import resource
import struct
import time

import numpy as np
import pytest

from microzo_host.importers import tflite, tflite_file
from microzo_host.model import file as modelfile

pytest.importorskip("tflite", reason="the package tflite reads the files")
pytest.importorskip("ai_edge_litert", reason="its schema builds the files")
from tflite_graphs import Graphs  # noqa: E402

FULL = bool(os.environ.get("MICROZO_FULL"))
MUTATIONS = 20_000 if FULL else 1_500
SECONDS, MEGABYTES = 5, 600
EXTREMES = (0, 1, -1, 2, 127, 255, 256, 65535, 1 << 24, (1 << 31) - 1, -(1 << 31), 1 << 30)


def network():
    """A file with every kind of table: convolutions, a branch, pads, constants, options."""
    g = Graphs(11, [1, 8, 7, 3])
    g.pad((1, 1, 1, 1))
    g.conv(4, (3, 3), (2, 1), 1, 1)
    first = g.x
    g.depthwise(1, (3, 3))
    g.binary("ADD", first, 1)
    g.pool("MAX_POOL_2D", (2, 2), (2, 2))
    g.mean()
    g.reshape([1, 4])
    g.dense(5)
    return g.pack()


def imported(raw):
    return tflite.from_graph(tflite_file.parse(raw, "net.tflite"), "net.tflite")


def attempt(raw):
    """Import one file; True if it was taken."""
    start = time.monotonic()
    try:
        model = imported(raw)
    except ValueError as error:
        message = str(error)
        assert message.startswith("net.tflite") and "\n" not in message and len(message) < 4000
        return False
    finally:
        assert time.monotonic() - start < SECONDS
    modelfile.check(model, "net.tflite")
    return True


def mutate(raw, rng):
    """A copy with one to four wounds."""
    data = bytearray(raw)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        kind = rng.randrange(6)
        at = rng.randrange(len(data))
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.randrange(256)
        elif kind == 2:
            at &= ~3
            value = rng.choice(EXTREMES) if rng.random() < 0.7 else rng.randrange(-500, 500)
            data[at : at + 4] = struct.pack("<i", value)[: len(data[at : at + 4])]
        elif kind == 3:
            del data[at:]
        elif kind == 4:
            other, n = rng.randrange(len(data)), rng.choice((4, 8, 64))
            data[at : at + n] = data[other : other + n]
        else:
            del data[at : at + rng.choice((1, 4, 16))]
        if len(data) < 4:
            break
    return bytes(data)


@pytest.mark.slow
def test_mutations():
    raw, rng = network(), random.Random(1)
    assert attempt(raw)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    taken = sum(attempt(mutate(raw, rng)) for _ in range(MUTATIONS))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < MEGABYTES * 1024
    assert 0 < taken < MUTATIONS


def test_every_truncation_of_a_small_file():
    g = Graphs(12, [1, 4])
    g.dense(2)
    raw = g.pack()
    step = 1 if FULL else 7
    assert not any(attempt(raw[:n]) for n in range(0, len(raw) - 64, step))


@pytest.mark.parametrize("content", [b"", b"TFL3", b"\0" * 64, b"\x10\0\0\0TFL3" + b"\xff" * 400])
def test_what_is_no_model(content):
    assert not attempt(content)


def broken(change):
    g = Graphs(13, [1, 5, 5, 2])
    g.conv(3, (3, 3))
    g.dense(2)
    change(g)
    return g.pack()


@pytest.mark.parametrize(
    "change",
    [
        lambda g: setattr(g.b.tensors[0], "shape", [1, 1 << 30, 1 << 30, 1 << 30]),
        lambda g: setattr(g.b.tensors[1], "shape", [1 << 30, 1, 1, 1]),
        lambda g: setattr(g.b.tensors[0], "shape", [1, -5, 5, 2]),
        lambda g: setattr(g.b.tensors[0], "shape", [1] * 40),
        lambda g: setattr(g.b.tensors[0], "shape", [4, 5, 5, 2]),
        lambda g: setattr(g.b.nodes[0], "inputs", [g.x, 1, 2]),
        lambda g: setattr(g.b.nodes[0], "inputs", [3, 1, 2]),
        lambda g: setattr(g.b.nodes[0], "inputs", [1 << 20, 1, 2]),
        lambda g: setattr(g.b.nodes[0], "inputs", []),
        lambda g: setattr(g.b.nodes[0], "inputs", [0]),
        lambda g: setattr(g.b.nodes[0], "inputs", [-1, -1, -1]),
        lambda g: setattr(g.b.nodes[0], "outputs", []),
        lambda g: setattr(g.b.nodes[1], "outputs", g.b.nodes[0].outputs),
        lambda g: setattr(g.b.nodes[0], "opcodeIndex", 77),
        lambda g: setattr(g.b.nodes[0].builtinOptions, "strideH", 0),
        lambda g: setattr(g.b.nodes[0].builtinOptions, "strideH", -1),
        lambda g: setattr(g.b.nodes[0].builtinOptions, "padding", 1),
        lambda g: setattr(g.b.tensors[1].quantization, "scale", np.full(3, np.nan, np.float32)),
        lambda g: setattr(g.b.tensors[1].quantization, "scale", np.full(3, 1e30, np.float32)),
        lambda g: setattr(g.b.tensors[1].quantization, "scale", np.full(7, 0.1, np.float32)),
        lambda g: setattr(g.b.tensors[1].quantization, "quantizedDimension", 3),
        lambda g: setattr(g.b.tensors[1].quantization, "zeroPoint", np.full(3, 5)),
        lambda g: setattr(g.b.tensors[0].quantization, "zeroPoint", np.array([1 << 40])),
        lambda g: setattr(g.b.tensors[0].quantization, "scale", np.zeros(1, np.float32)),
        lambda g: setattr(g.b.tensors[0], "quantization", None),
        lambda g: setattr(g.b.tensors[1], "buffer", 4000),
        lambda g: setattr(g.b.tensors[0], "name", b"x" * 100_000),
        lambda g: g.b.inputs.append(3),
        lambda g: g.b.inputs.clear(),
        lambda g: setattr(g, "x", 0),
    ],
)
def test_a_lie_in_the_file(change):
    assert not attempt(broken(change))


def test_a_bias_that_overflows_is_refused_by_name():
    def change(g):
        g.b.buffers[g.b.tensors[2].buffer].data = np.full(3, 2**31 - 1, "<i4").view(np.uint8)

    with pytest.raises(ValueError, match="t3"):
        imported(broken(change))
