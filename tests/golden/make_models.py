"""Makes the networks of the golden tests. Run once; the files are committed, so that no golden
depends on a PC's NumPy. A new network for a new method is a new name here.

    python tests/golden/make_models.py NAME...
"""

import pathlib
import sys

import numpy as np

from microzo_host.demo import prepare
from microzo_host.model import colors, quantize
from microzo_host.model import file as modelfile
from microzo_host.model.network import Layer, Network, forward

FOLDER = pathlib.Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent / "support"))


def demo(path):
    """The demo's network, 10 operators."""
    written, _, _ = prepare.model("mnist", path.parent)
    pathlib.Path(written).replace(path)


def small(path):
    """Convolution, depthwise, pointwise, pool, dense; as in the device tests."""
    import small as made

    made.write_model(path)


def weights(rng, *shape):
    return (rng.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))).astype(np.float32)


def blocks(rng, height, width, rows, columns):
    """200 images of two colours, blocks of equal values."""
    coarse = rng.integers(0, 256, (200, height // rows, width // columns, 2))
    return np.kron(coarse, np.ones((1, rows, columns, 1), int)).astype(np.uint8)


def finish(path, net, images, spread, mean, activation="none"):
    """Gives the logits a spread and a mean over the images, and writes the quantized network."""
    logits = forward(net, images / 255)[-1].reshape(200, -1)
    head = net.layers[-1]
    head.weight *= (spread / logits.std(0)).astype(np.float32)[:, None, None, None]
    head.bias += mean - spread * logits.mean(0) / logits.std(0)
    head.activation = activation
    modelfile.write(path, quantize.quantize(net, images))


def residual(path):
    """Two convolutions into an ADD before the pool; sums of 24 bits; two colours."""
    rng = np.random.Generator(np.random.PCG64(8))
    layers = [
        Layer("conv", "stem", (0,), weights(rng, 32, 2, 3, 2), np.zeros(32, np.float32),
              pads=(0, 1, 1, 1), activation="relu"),
        Layer("conv", "wide", (1,), weights(rng, 8, 3, 3, 32), np.zeros(8, np.float32),
              pads=(1, 1, 1, 1)),
        Layer("conv", "side", (1,), weights(rng, 8, 1, 1, 32), np.zeros(8, np.float32)),
        Layer("add", "sum", (2, 3), activation="relu"),
        Layer("globalpool", "pool", (4,)),
        Layer("dense", "head", (5,), weights(rng, 3, 1, 1, 8), np.zeros(3, np.float32)),
    ]  # fmt: skip
    net = Network((12, 10, 2), layers, "residual")
    finish(path, net, blocks(rng, 12, 10, 3, 2), 3, 0)


def colored(path):
    """The residual network with roots of clean correlations."""
    residual(path)
    model = modelfile.read(path)
    rng = np.random.Generator(np.random.PCG64(10))
    colors.store(model, blocks(rng, 12, 10, 3, 2))
    modelfile.write(path, model)


def clamped(path):
    """A head with a clamp, whose logits come from its int8 output by one multiplier."""
    rng = np.random.Generator(np.random.PCG64(9))
    layers = [
        Layer("conv", "stem", (0,), weights(rng, 6, 3, 3, 2), np.zeros(6, np.float32),
              stride=(2, 1), pads=(1, 1, 0, 0), activation="relu"),
        Layer("conv", "last", (1,), weights(rng, 10, 3, 2, 6), np.zeros(10, np.float32),
              activation="relu6"),
        Layer("globalpool", "pool", (2,)),
        Layer("dense", "head", (3,), weights(rng, 4, 1, 1, 10), np.zeros(4, np.float32)),
    ]  # fmt: skip
    net = Network((9, 8, 2), layers, "clamped")
    finish(path, net, blocks(rng, 9, 8, 3, 2), 2, 3, "relu")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name](FOLDER / "models" / f"{name}.safetensors")
