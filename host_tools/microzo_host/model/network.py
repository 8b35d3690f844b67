"""Float network description: a list of layers, folding, a NumPy forward.

Tensors are numbered: 0 is the network's input, i + 1 the output of layer i,
so a residual block is a layer whose ``inputs`` name two tensors.
Weights are float32 in OHWI order: conv (O, kh, kw, I), depthwise (O, kh, kw, 1)
with O = I * multiplier and output o reading input o // multiplier, dense
(O, 1, 1, I). Images are float32 NxHxWxC in [0, 1].

The forward gives the same bits on every machine: what is summed are integers below 2^53 in
float64, so that the order of a sum, which differs between processors, changes nothing.
"""

import dataclasses
import math

import numpy as np

WEIGHTED = ("conv", "depthwise", "dense")
POOLS = ("avgpool", "maxpool", "globalpool")
TWO = ("add", "sub", "mul", "concat")
KINDS = (*WEIGHTED, *POOLS, *TWO, "pad", "channels", "mean", "function")
# Their output has the quantization of their input.
KEPT = (*POOLS, "pad", "channels")
EXACT_BITS = 52  # of the 53 of a float64, one to spare
ACTIVATIONS = {"none": (-np.inf, np.inf), "relu": (0.0, np.inf), "relu6": (0.0, 6.0)}


@dataclasses.dataclass
class BatchNorm:
    """Per-channel normalization after a weighted layer, arrays float32 (O,)."""

    gamma: np.ndarray
    beta: np.ndarray
    mean: np.ndarray
    var: np.ndarray
    eps: float = 1e-5


@dataclasses.dataclass
class Layer:
    """One operator. ``pads`` are top, bottom, left, right; ``kernel``, ``stride``, ``dilation``
    (h, w). Negative pads of a ``pad`` cut off; ``channels`` pads channels by the last two.
    ``axis`` of a ``concat``: 0 rows, 1 columns, 2 channels, 3 flat. ``function`` of a
    ``function`` layer takes and gives an array, value by value. ``activation``: a name, or
    (low, high)."""

    kind: str
    name: str
    inputs: tuple
    weight: np.ndarray = None
    bias: np.ndarray = None
    bn: BatchNorm = None
    kernel: tuple = (1, 1)
    stride: tuple = (1, 1)
    pads: tuple = (0, 0, 0, 0)
    activation: object = "none"
    dilation: tuple = (1, 1)
    axis: int = 2
    function: object = None


@dataclasses.dataclass
class Network:
    """Layers in execution order; ``input_shape`` is (H, W, C); the last layer gives the logits."""

    input_shape: tuple
    layers: list
    name: str = "network"

    def __post_init__(self):
        self.shapes = shapes(self)

    def fold(self):
        """The same function without BatchNorm: weight * g, bias = beta + (bias - mean) * g."""
        return Network(self.input_shape, [_fold(layer) for layer in self.layers], self.name)


def same_pads(size, kernel, stride, dilation=(1, 1)):
    """TensorFlow's SAME padding (top, bottom, left, right) for (H, W) sizes."""
    pads = []
    for n, k, s, d in zip(size, kernel, stride, dilation, strict=True):
        total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        pads += [total // 2, total - total // 2]
    return tuple(pads)


def shapes(net):
    """(H, W, C) of every tensor; raises ValueError naming the first layer that does not fit."""
    known = [tuple(net.input_shape)]
    for layer in net.layers:
        known.append(_output_shape(layer, known))
    return known


def conv_size(size, kernel, stride, pads, dilation=(1, 1)):
    """Output (H, W) of a window of ``kernel`` over ``size`` with explicit pads."""
    return tuple(
        (n + pads[2 * d] + pads[2 * d + 1] - (kernel[d] - 1) * dilation[d] - 1) // stride[d] + 1
        for d, n in enumerate(size)
    )


def _output_shape(layer, known):
    if layer.kind not in KINDS:
        raise ValueError(
            f"layer {layer.name!r} has unknown kind {layer.kind!r}: use one of {', '.join(KINDS)}"
        )
    if not isinstance(layer.activation, tuple) and layer.activation not in ACTIVATIONS:
        raise ValueError(
            f"layer {layer.name!r} has unknown activation {layer.activation!r}: "
            f"use one of {', '.join(ACTIVATIONS)}"
        )
    wanted = 2 if layer.kind in TWO else 1
    if len(layer.inputs) != wanted or not all(0 <= i < len(known) for i in layer.inputs):
        raise ValueError(
            f"layer {layer.name!r} reads tensors {layer.inputs}: "
            f"give {wanted} numbered below {len(known)}"
        )
    h, w, c = known[layer.inputs[0]]
    if layer.kind in TWO:
        return _joined(layer, (h, w, c), known[layer.inputs[1]])
    if layer.kind == "function":
        return h, w, c
    if layer.kind == "pad":
        return h + layer.pads[0] + layer.pads[1], w + layer.pads[2] + layer.pads[3], c
    if layer.kind == "channels":
        return h, w, c + layer.pads[2] + layer.pads[3]
    if layer.kind == "globalpool":
        return 1, 1, c
    if layer.kind == "dense":
        out, inside = layer.weight.shape[0], layer.weight[0].size
        if inside != h * w * c:
            raise ValueError(
                f"layer {layer.name!r} has {inside} inputs but is given {h}x{w}x{c}: "
                f"make its weight (O, 1, 1, {h * w * c})"
            )
        return 1, 1, out
    kernel = layer.kernel
    if layer.kind in WEIGHTED:
        kernel = layer.weight.shape[1:3]
        if layer.kind == "conv" and layer.weight.shape[3] != c:
            raise ValueError(
                f"layer {layer.name!r} expects {layer.weight.shape[3]} channels "
                f"but is given {c}: weights are (O, kh, kw, I)"
            )
        if layer.kind == "depthwise" and (layer.weight.shape[0] % c or layer.weight.shape[3] != 1):
            raise ValueError(
                f"depthwise layer {layer.name!r} has weight {layer.weight.shape} for {c} "
                f"channels: make it (C * multiplier, kh, kw, 1)"
            )
        c = layer.weight.shape[0]
    h, w = conv_size((h, w), kernel, layer.stride, layer.pads, layer.dilation)
    if h < 1 or w < 1:
        raise ValueError(f"layer {layer.name!r} has no output: its kernel exceeds its input")
    return h, w, c


def _joined(layer, first, second):
    """Shape of a layer of two inputs; the second of a sum or product may be spread."""
    if layer.kind == "concat" and layer.axis == 3:
        return 1, 1, math.prod(first) + math.prod(second)
    if layer.kind == "concat":
        shape = list(first)
        shape[layer.axis] += second[layer.axis]
        fits = all(a == b for i, (a, b) in enumerate(zip(first, second)) if i != layer.axis)
    else:
        shape = first
        fits = second[:2] in (first[:2], (1, 1)) and second[2] in (first[2], 1)
    if not fits:
        verb = {"add": "adds", "sub": "subtracts", "mul": "multiplies", "concat": "joins"}[
            layer.kind
        ]
        raise ValueError(
            f"layer {layer.name!r} {verb} {first} and {second}: both inputs need one shape"
        )
    return tuple(shape)


def _fold(layer):
    if layer.kind not in WEIGHTED:
        return layer
    bias = np.zeros(len(layer.weight)) if layer.bias is None else layer.bias.astype(np.float64)
    gain = np.ones(len(layer.weight))
    if layer.bn is not None:
        gain = layer.bn.gamma.astype(np.float64) / np.sqrt(layer.bn.var + layer.bn.eps)
        bias = layer.bn.beta + (bias - layer.bn.mean) * gain
    weight = layer.weight * gain[:, None, None, None]
    return dataclasses.replace(
        layer, weight=weight.astype(np.float32), bias=bias.astype(np.float32), bn=None
    )


def forward(net, images):
    """All tensors (list of float32 NxHxWxC) of a folded network for images in [0, 1]."""
    tensors = [np.asarray(images, np.float32)]
    for layer in net.layers:
        tensors.append(apply(layer, *(tensors[i] for i in layer.inputs)))
    return tensors


def apply(layer, x, other=None):
    """One folded layer, activation included."""
    if layer.bn is not None:
        raise ValueError(f"layer {layer.name!r} still has BatchNorm: call fold() first")
    if layer.kind == "add":
        out = x + other
    elif layer.kind == "sub":
        out = x - other
    elif layer.kind == "mul":
        out = x * other
    elif layer.kind == "concat" and layer.axis == 3:
        out = np.concatenate([v.reshape(len(v), 1, 1, -1) for v in (x, other)], 3)
    elif layer.kind == "concat":
        out = np.concatenate([x, other], layer.axis + 1)
    elif layer.kind == "function":
        out = layer.function(x.astype(np.float64))
    elif layer.kind == "pad":
        out = padded(x, layer.pads, 0.0)
    elif layer.kind == "channels":
        out = padded(x.transpose(0, 1, 3, 2), (0, 0, *layer.pads[2:]), 0.0).transpose(0, 1, 3, 2)
    elif layer.kind == "mean":
        out = windows(x, layer.kernel, layer.stride).mean(axis=(4, 5))
    elif layer.kind == "globalpool":
        out = _sum(x, x.shape[1] * x.shape[2], (1, 2), keepdims=True) / (x.shape[1] * x.shape[2])
    elif layer.kind in POOLS:
        out = _pool(layer, x)
    elif layer.kind == "dense":
        out = _weighted(layer, x.reshape(len(x), 1, 1, -1))
    else:
        out = _weighted(layer, padded(x, layer.pads, 0.0))
    return np.clip(out, *limits(layer)).astype(np.float32)


def _weighted(layer, x):
    """float64 (N, h, w, O) of a weighted layer on its padded input.

    Inputs and, channel by channel, weights are rounded to integers times a power of two, of as
    many bits as leave the sums exact: 24 for a 3x3 kernel, 19 for 4,096 inputs.
    """
    row = layer.weight[0].size
    bits = (EXACT_BITS - row.bit_length()) // 2
    weight, scale = _integers(layer.weight, bits, (1, 2, 3))
    values, unit = _integers(x, bits)
    depthwise = layer.kind == "depthwise"
    out = correlate(values, weight, layer.stride, depthwise, layer.dilation)
    return np.ldexp(out, (scale + unit).reshape(-1)) + layer.bias


def _integers(values, bits, axis=None):
    """(whole float64 up to 2^bits, exponent): values are about integers * 2^exponent.

    ``axis``: along which values share an exponent, all by default.
    """
    peak = np.abs(values).max(axis=axis, keepdims=True, initial=0)
    exponent = np.frexp(peak)[1] - bits
    return np.rint(np.ldexp(values.astype(np.float64), -exponent)), exponent


def _sum(x, count, axis, **options):
    """float64 sums over axes of (N, h, w, ...) values, ``count`` in each."""
    values, exponent = _integers(x, EXACT_BITS - count.bit_length())
    return np.ldexp(values.sum(axis=axis, **options), exponent.item())


def limits(layer):
    """(low, high) of a layer's activation."""
    activation = layer.activation
    return activation if isinstance(activation, tuple) else ACTIVATIONS[activation]


def correlate(x, weight, stride, depthwise, dilation=(1, 1)):
    """Sums of products of a padded NxHxWxC array and OHWI weights, in their dtype."""
    if not depthwise:
        view = windows(x, weight.shape[1:3], stride, dilation)
        return np.tensordot(view, weight, axes=((3, 4, 5), (3, 1, 2)))
    kernel = weight.shape[1:3]
    x = np.repeat(x, len(weight) // x.shape[3], axis=3)
    size = conv_size(x.shape[1:3], kernel, stride, (0, 0, 0, 0), dilation)
    out = np.zeros((len(x), *size, len(weight)), x.dtype)
    for i, j in np.ndindex(*kernel):
        top, left = i * dilation[0], j * dilation[1]
        rows = slice(top, top + (size[0] - 1) * stride[0] + 1, stride[0])
        columns = slice(left, left + (size[1] - 1) * stride[1] + 1, stride[1])
        out += x[:, rows, columns] * weight[:, i, j, 0]
    return out


def windows(x, kernel, stride, dilation=(1, 1)):
    """View NxHxWxCxKhxKw of every window of a padded NxHxWxC array."""
    size = tuple((k - 1) * d + 1 for k, d in zip(kernel, dilation))
    view = np.lib.stride_tricks.sliding_window_view(x, size, axis=(1, 2))
    return view[:, :: stride[0], :: stride[1], :, :: dilation[0], :: dilation[1]]


def padded(x, pads, value):
    """An NxHxWxC array with pads (top, bottom, left, right); negative ones cut off."""
    if not any(pads):
        return x
    cut = [max(-p, 0) for p in pads]
    x = x[:, cut[0] : x.shape[1] - cut[1], cut[2] : x.shape[2] - cut[3]]
    top, bottom, left, right = (max(p, 0) for p in pads)
    return np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=value)


def _pool(layer, x):
    if layer.kind == "maxpool":
        return windows(padded(x, layer.pads, -np.inf), layer.kernel, layer.stride).max(axis=(4, 5))
    view = windows(padded(x, layer.pads, 0.0), layer.kernel, layer.stride)
    total = _sum(view, layer.kernel[0] * layer.kernel[1], (4, 5))
    inside = padded(np.ones((1, *x.shape[1:3], 1), np.float32), layer.pads, 0.0)
    return total / windows(inside, layer.kernel, layer.stride).sum(axis=(4, 5))
