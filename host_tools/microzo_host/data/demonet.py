"""The demo network: a stem, four depthwise-separable blocks, pooling, a head.

17,856 weights, 641,760 multiplications a forward, on 28x28x1 images; the labs' digits are 16x16x1.
"""

import pathlib

import numpy as np

from ..model import safetensors
from ..model.network import BatchNorm, Layer, Network, same_pads

INPUT_SHAPE = (28, 28, 1)
INPUT_SHAPES = {"digits": (16, 16, 1)}  # of the data sets with another one
STEM = 16
BLOCKS = ((1, 32), (2, 64), (1, 64), (2, 128))  # stride of the depthwise, width of the pointwise
CLASSES = 10
ASSETS = pathlib.Path(__file__).parent / "assets"


def create(seed, shape=INPUT_SHAPE):
    """Untrained network: He-normal weights from PCG64(seed), BatchNorm at identity."""
    rng = np.random.Generator(np.random.PCG64(seed))
    layers = []
    size, width = shape[:2], shape[2]

    def add(kind, name, out, kernel, stride):
        nonlocal size, width
        inside = 1 if kind == "depthwise" else width
        fan_in = kernel[0] * kernel[1] * inside
        weight = rng.standard_normal((out, *kernel, inside)) * np.sqrt(2 / fan_in)
        bn = BatchNorm(*(np.full(out, v, np.float32) for v in (1, 0, 0, 1)))
        layers.append(
            Layer(
                kind,
                name,
                (len(layers),),
                weight.astype(np.float32),
                None,
                bn,
                stride=stride,
                pads=same_pads(size, kernel, stride),
                activation="relu",
            )
        )
        size, width = tuple(-(-n // s) for n, s in zip(size, stride, strict=True)), out

    add("conv", "stem", STEM, (3, 3), (2, 2))
    for i, (stride, out) in enumerate(BLOCKS, 1):
        add("depthwise", f"dw{i}", width, (3, 3), (stride, stride))
        add("conv", f"pw{i}", out, (1, 1), (1, 1))
    layers.append(Layer("globalpool", "pool", (len(layers),)))
    weight = rng.standard_normal((CLASSES, 1, 1, width)) / np.sqrt(width)
    bias = np.zeros(CLASSES, np.float32)
    layers.append(Layer("dense", "head", (len(layers),), weight.astype(np.float32), bias))
    return Network(shape, layers, "demo")


def create_for(data, seed):
    """``create`` for the images of a data set."""
    return create(seed, INPUT_SHAPES.get(data, INPUT_SHAPE))


def save(path, net, metadata):
    """Write the parameters (float32, with BatchNorm) and a str-to-str metadata dict."""
    tensors = {}
    for layer in net.layers:
        for key, value in _parameters(layer):
            tensors[f"{layer.name}.{key}"] = value
    safetensors.write(path, tensors, metadata)


def pretrained(name):
    """The demo network with the weights kept in assets/ for data set ``name``."""
    path = ASSETS / f"{name}.safetensors"
    if not path.is_file():
        raise OSError(f"no pre-trained weights for {name!r}: run `python -m microzo_lab pretrain`")
    tensors, _ = safetensors.read(path)
    net = create_for(name, 0)
    for layer in net.layers:
        for key, value in _parameters(layer):
            stored = tensors.get(f"{layer.name}.{key}")
            if stored is None or stored.shape != value.shape:
                raise ValueError(
                    f"{path} does not fit the demo network: make it again by pretrain"
                )
            value[...] = stored
    net.name = f"demo-{name}"
    return net


def _parameters(layer):
    if layer.weight is not None:
        yield "weight", layer.weight
    if layer.bias is not None:
        yield "bias", layer.bias
    if layer.bn is not None:
        for key in ("gamma", "beta", "mean", "var"):
            yield key, getattr(layer.bn, key)
