"""SHA-256 of data and models that the host tools make; as a script they are printed as JSON."""

import hashlib
import json
import pathlib
import sys
import types

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import networks
import small

from microzo_host.data import colour_corruptions, corruptions, datasets, demonet
from microzo_host.demo import prepare
from microzo_host.importers import tables
from microzo_host.model import file as modelfile
from microzo_host.model import network, quantize, ranges


def digest(*parts):
    """Of arrays or bytes one after another."""
    return hashlib.sha256(b"".join(bytes(np.ascontiguousarray(p).data) for p in parts)).hexdigest()


def corrupted(module, images):
    """{name: digest over all severities}."""
    return {
        name: digest(*(module.apply(name, images, severity, 1) for severity in range(1, 6)))
        for name in module.NAMES
    }


def smooth(n, size, channels):
    """uint8 (n, size, size, channels): random values in squares of 4, some of them black."""
    rng = np.random.Generator(np.random.PCG64(size))
    coarse = rng.integers(-50, 256, (n, size // 4, size // 4, channels)).clip(0)
    return coarse.repeat(4, 1).repeat(4, 2).astype(np.uint8)


def demo_images(name, severity):
    """Of one camera of the demo: those for training and those for the test."""
    images = []
    for split, count, seed in (("adapt", prepare.TRAIN, 1), ("test", prepare.TEST, 2)):
        x, labels = datasets.load("mnist", split)
        index = datasets.draw_balanced(labels, count, seed)
        images.append(corruptions.apply(name, x[index], severity, seed))
    return digest(*images)


def curves():
    """The tables that an importer fills for sigmoid and tanh."""
    for scale in (0.01, 0.047, 0.3):
        x, y = (
            types.SimpleNamespace(scales=np.float32([s]), zero_points=np.array([zero]))
            for s, zero in ((scale, 3), (1 / 128, 0))
        )
        yield from (tables.logistic(x, y), tables.tanh(x, y))


def digests():
    """{what: {name: SHA-256}}."""
    digits = datasets.load("mnist", "pretrain")[0][: prepare.CALIBRATION]
    net, x = networks.residual().fold(), networks.images(70, (9, 7, 2))
    real = x / np.float32(255)
    return {
        "grey": corrupted(corruptions, smooth(12, 28, 1)),
        "colour": corrupted(colour_corruptions, smooth(6, 32, 3)),
        "demo": {name: demo_images(name, s) for name, s in prepare.CORRUPTIONS["mnist"].items()},
        "models": {
            # a network of clothes calibrated by digits: no test needs the other data set
            name: digest(modelfile.pack(quantize.quantize(demonet.pretrained(name), digits)))
            for name in ("mnist", "fashion")
        }
        | {
            "small": digest(
                modelfile.pack(quantize.quantize(small.network(), small.images(200, 5)))
            )
        },
        "float": {
            "digits": digest(
                *network.forward(demonet.pretrained("mnist").fold(), digits[:64] / np.float32(255))
            ),
            "every kind of layer": digest(*network.forward(net, real)),
            "mse": digest(np.array(ranges.choose(net, real, "mse"))),
            "percentile": digest(np.array(ranges.choose(net, real, "percentile"))),
            "curves": digest(*curves()),
        },
    }


if __name__ == "__main__":
    json.dump(digests(), sys.stdout, indent=1)
