"""Small random float networks for the host tests."""

import numpy as np

from microzo_host.model.network import BatchNorm, Layer, Network


def weights(rng, *shape):
    """He-normal float32 in OHWI order."""
    return (rng.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))).astype(np.float32)


def norm(rng, n):
    """A BatchNorm that does something."""
    parts = rng.uniform(0.5, 1.5, n), rng.normal(0, 0.3, n), rng.normal(0, 0.3, n)
    return BatchNorm(*(p.astype(np.float32) for p in (*parts, rng.uniform(0.5, 2, n))))


def residual(seed=0):
    """Every kind of layer: conv, pads, depthwise x2, add, the pools, dense; 9x7x2 images."""
    rng = np.random.Generator(np.random.PCG64(seed))
    layers = [
        Layer("pad", "border", (0,), pads=(1, 0, 0, 1)),
        Layer("conv", "stem", (1,), weights(rng, 4, 3, 3, 2), None, norm(rng, 4),
              pads=(0, 1, 1, 0), activation="relu6"),
        Layer("depthwise", "wide", (2,), weights(rng, 8, 3, 3, 1), None, norm(rng, 8),
              pads=(1, 1, 1, 1), activation="relu"),
        Layer("conv", "narrow", (3,), weights(rng, 4, 1, 1, 8), None, norm(rng, 4)),
        Layer("add", "skip", (4, 2), activation="relu"),
        Layer("maxpool", "max", (5,), kernel=(3, 2), stride=(2, 2), pads=(1, 1, 0, 0)),
        Layer("avgpool", "mean", (6,), kernel=(2, 2), stride=(1, 1), pads=(0, 1, 0, 0)),
        Layer("conv", "last", (7,), weights(rng, 6, 2, 2, 4), None, norm(rng, 6),
              activation="relu"),
        Layer("globalpool", "pool", (8,)),
        Layer("dense", "head", (9,), weights(rng, 3, 1, 1, 6), np.float32([0.1, -0.2, 0.3])),
    ]  # fmt: skip
    return Network((9, 7, 2), layers, "residual")


def plain(shape=(7, 6, 2), kernel=(3, 2), pads=(1, 1, 0, 0), seed=0):
    """A convolution of the input, a pool, dense: the input's patches have a covariance."""
    rng = np.random.Generator(np.random.PCG64(seed))
    layers = [
        Layer("conv", "stem", (0,), weights(rng, 4, *kernel, shape[2]), np.zeros(4, np.float32),
              stride=(2, 1), pads=pads, activation="relu"),
        Layer("globalpool", "pool", (1,)),
        Layer("dense", "head", (2,), weights(rng, 3, 1, 1, 4), np.zeros(3, np.float32)),
    ]  # fmt: skip
    return Network(shape, layers, "plain")


def images(n, shape, seed=1):
    """Uniform random uint8 NxHxWxC."""
    rng = np.random.Generator(np.random.PCG64(seed))
    return rng.integers(0, 256, (n, *shape), dtype=np.uint8)
