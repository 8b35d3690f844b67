"""The smallest network in which every method has something to train, and its data."""

import functools
import pathlib

import networks
import numpy as np

import microzo
from microzo_host.model import colors, quantize
from microzo_host.model import file as modelfile
from microzo_host.model.network import Layer, Network

SHAPE = (6, 6, 1)


def network(a=4, b=5):
    """conv, depthwise, pointwise, global pool, dense; of a and b channels."""
    rng = np.random.Generator(np.random.PCG64(4))
    w = functools.partial(networks.weights, rng)
    layers = [
        Layer("conv", "stem", (0,), w(a, 3, 3, 1), np.zeros(a, np.float32), stride=(2, 2),
              pads=(0, 1, 0, 1), activation="relu"),
        Layer("depthwise", "dw", (1,), w(a, 3, 3, 1), np.zeros(a, np.float32),
              pads=(1, 1, 1, 1), activation="relu"),
        Layer("conv", "pw", (2,), w(b, 1, 1, a), np.zeros(b, np.float32), activation="relu"),
        Layer("globalpool", "pool", (3,)),
        Layer("dense", "head", (4,), 3 * w(3, 1, 1, b), np.zeros(3, np.float32)),
    ]  # fmt: skip
    return Network(SHAPE, layers, "tiny")


def write(folder, *channels):
    """Model file, x.npy and y.npy in a folder; their names. channels: of the network."""
    folder = pathlib.Path(folder)
    images = networks.images(60, SHAPE, 6)
    quantized = quantize.quantize(network(*channels), images)
    colors.store(quantized, images)
    modelfile.write(folder / "tiny.safetensors", quantized)
    model = microzo.load(str(folder / "tiny.safetensors"))
    x = images[:20]
    y = np.array([model.predict(image.tobytes()) for image in x], np.uint8)
    np.save(folder / "x.npy", (x // 3 + 90).astype(np.uint8))
    np.save(folder / "y.npy", y)
    return [str(folder / name) for name in ("tiny.safetensors", "x.npy", "y.npy")]
