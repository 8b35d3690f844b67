"""ONNX operators with weights, sums, and what is folded into them."""

import dataclasses

import numpy as np

from ..model import network
from .problems import Unsupported

ACTIVATIONS = {(0.0, np.inf): "relu", (0.0, 6.0): "relu6", (-np.inf, np.inf): "none"}


def conv(g, node):
    """Conv, plain or depthwise, 2-D or 1-D."""
    (h, w, c), view = g.image(node.inputs[0])
    weight = np.asarray(g.constant(node.inputs[1], "weights"), np.float32)
    if weight.ndim == 3:
        weight = weight[:, :, None, :]
    if weight.ndim != 4 or len(view.shape) != len(g.constants[node.inputs[1]].shape):
        raise Unsupported(f"has weights of shape {weight.shape} (use a 1-D or 2-D convolution)")
    group = node.attributes.get("group", 1)
    if group != 1 and (group != c or weight.shape[1] != 1 or weight.shape[0] % c):
        raise Unsupported(f"has {group} groups for {c} channels (use a plain or depthwise one)")
    if group == 1 and weight.shape[1] != c:
        raise Unsupported(f"has weights for {weight.shape[1]} channels, not {c} (export it again)")
    kind = "conv" if group == 1 else "depthwise"
    kernel, stride, pads = window(node, (h, w), weight.shape[2:])
    oh, ow = network.conv_size((h, w), kernel, stride, pads)
    if min(oh, ow) < 1:
        raise Unsupported("has a window larger than its input (make it smaller)")
    bias = np.zeros(len(weight), np.float32)
    if len(node.inputs) > 2 and node.inputs[2]:
        bias = np.asarray(g.constant(node.inputs[2], "biases"), np.float32).reshape(-1)
    out = len(weight)
    view_shape = (1, out, ow) if len(view.shape) == 3 else None
    g.emit(
        node, kind, (view.tensor,), (oh, ow, out), view_shape,
        weight=np.ascontiguousarray(weight.transpose(0, 2, 3, 1)), bias=_sized(bias, out),
        kernel=kernel, stride=stride, pads=pads,
    )  # fmt: skip
    g.keep_scales(node.inputs[1], 0)


def window(node, size, kernel):
    """(kernel, stride, (top, bottom, left, right)) of a windowed node; 1-D gets a height of 1."""
    a = node.attributes
    kernel = tuple(int(k) for k in kernel)
    one_d = len(a.get("kernel_shape", kernel)) == 1

    def pair(name, default):
        values = [int(v) for v in a.get(name, default)]
        return tuple([1, *values] if one_d and len(values) == 1 else values)

    if any(d != 1 for d in a.get("dilations", ())):
        raise Unsupported("is dilated (use a larger window or a stride)")
    stride = pair("strides", (1, 1))
    mode = a.get("auto_pad", "NOTSET")
    if mode == "SAME_UPPER":
        pads = network.same_pads(size, kernel, stride)
    elif mode == "SAME_LOWER":
        top, bottom, left, right = network.same_pads(size, kernel, stride)
        pads = bottom, top, right, left
    elif mode == "VALID" or "pads" not in a:
        pads = (0, 0, 0, 0)
    else:
        raw = [int(p) for p in a["pads"]]
        raw = [0, raw[0], 0, raw[1]] if len(raw) == 2 else raw
        pads = raw[0], raw[2], raw[1], raw[3]
    ok = len(kernel) == len(stride) == 2 and all(1 <= n <= 255 for n in (*kernel, *stride))
    if not ok or not all(0 <= p <= 255 for p in pads):
        raise Unsupported(f"has window {kernel}, stride {stride}, pads {pads} (use 1 to 255)")
    return kernel, stride, pads


def gemm(g, node):
    """Gemm: a dense layer."""
    a = node.attributes
    if a.get("transA", 0):
        raise Unsupported("is transposed on its first input (export it again)")
    weight = np.asarray(g.constant(node.inputs[1], "weights"), np.float32)
    weight = weight if a.get("transB", 0) else weight.T
    bias = np.zeros(len(weight), np.float32)
    if len(node.inputs) > 2 and node.inputs[2]:
        bias = np.asarray(g.constant(node.inputs[2], "biases"), np.float32).reshape(-1)
    _dense(
        g, node, weight * np.float32(a.get("alpha", 1.0)), bias * np.float32(a.get("beta", 1.0))
    )
    if a.get("alpha", 1.0) == 1:
        g.keep_scales(node.inputs[1], 0 if a.get("transB", 0) else 1)


def matmul(g, node):
    """MatMul of an activation with constant weights: a dense layer, its bias follows as an Add."""
    weight = np.asarray(g.constant(node.inputs[1], "weights"), np.float32)
    if weight.ndim != 2:
        raise Unsupported(f"has weights of shape {weight.shape} (use a dense layer)")
    _dense(g, node, weight.T, np.zeros(weight.shape[1], np.float32))
    g.keep_scales(node.inputs[1], 1)


def _dense(g, node, weight, bias):
    view = g.view(node.inputs[0])
    if (
        weight.ndim != 2
        or weight.shape[1] != len(view.order)
        or view.shape[:-1] != (1,) * (len(view.shape) - 1)
    ):
        raise Unsupported(f"multiplies {view.shape} by {weight.T.shape} (flatten before it)")
    out = len(weight)
    columns = np.empty_like(weight)
    columns[:, view.order] = weight
    shape = (*view.shape[:-1], out)
    g.emit(
        node, "dense", (view.tensor,), (1, 1, out), shape,
        weight=columns.reshape(out, 1, 1, -1), bias=_sized(bias, out),
    )  # fmt: skip


def _sized(bias, channels):
    if bias.size == 1:
        bias = np.broadcast_to(bias.reshape(-1), channels).copy()
    if bias.shape != (channels,):
        raise Unsupported(f"has {bias.size} biases for {channels} channels (export it again)")
    return bias


def batch_norm(g, node):
    """BatchNormalization with fixed statistics: an affine function of a channel."""
    scale, shift, mean, var = (
        np.asarray(g.constant(i, "statistics"), np.float64) for i in node.inputs[1:5]
    )
    gain = scale / np.sqrt(var + node.attributes.get("epsilon", 1e-5))
    rank = len(g.view(node.inputs[0]).shape)
    gain, shift = (v.reshape(1, -1, *(1,) * (rank - 2)) for v in (gain, shift - mean * gain))
    affine(g, node, *(_per_channel(g, node.inputs[0], v) for v in (gain, shift)))


def arithmetic(g, node):
    """Add, Sub, Mul, Div: of two activations (Add only), or with one number a channel."""
    first, second = node.inputs[:2]
    if first in g.views and second in g.views:
        if node.kind != "Add":
            raise Unsupported("of two activations (only their sum is known)")
        _sum(g, node)
        return
    name, other = (first, second) if first in g.views else (second, first)
    value = _per_channel(g, name, np.asarray(g.constant(other, "operand"), np.float64))
    swapped = name == second
    if node.kind == "Add":
        gain, shift = np.ones_like(value), value
    elif node.kind == "Sub":
        gain, shift = (-np.ones_like(value), value) if swapped else (np.ones_like(value), -value)
    elif node.kind == "Mul":
        gain, shift = value, np.zeros_like(value)
    elif swapped or not value.all():
        raise Unsupported("divides by an activation or by zero (multiply instead)")
    else:
        gain, shift = 1 / value, np.zeros_like(value)
    affine(g, node, gain, shift, name)


def _sum(g, node):
    a, b = (g.view(i) for i in node.inputs[:2])
    if a.shape != b.shape or not np.array_equal(a.order, b.order):
        raise Unsupported(f"adds {a.shape} and {b.shape} (make both the same)")
    g.emit(node, "add", (a.tensor, b.tensor), g.shapes[a.tensor], a.shape)
    g.views[node.outputs[0]].order = a.order


def _per_channel(g, name, value):
    """A constant operand as one number for each of our channels."""
    view = g.view(name)
    try:
        full = np.broadcast_to(value, view.shape).reshape(-1)
    except ValueError:
        raise Unsupported(
            f"combines {view.shape} with {value.shape} (use one a channel)"
        ) from None
    ours = np.empty(full.shape)
    ours[view.order] = full
    rows = ours.reshape(-1, g.shapes[view.tensor][2])
    if (rows != rows[0]).any():
        raise Unsupported("uses a constant that differs within a channel (use one a channel)")
    return rows[0]


def affine(g, node, gain, shift, name=None):
    """x * gain + shift: into the layer before it if that is possible, else a 1x1 depthwise one."""
    name = name or node.inputs[0]
    view = g.view(name)
    layer = g.writer(name)
    out = node.outputs[0]
    if layer is not None and layer.kind in network.WEIGHTED:
        layer.weight = (layer.weight * gain[:, None, None, None]).astype(np.float32)
        layer.bias = (layer.bias * gain + shift).astype(np.float32)
        g.weight_scales.pop(view.tensor - 1, None)
        g.views[out] = dataclasses.replace(view)
        return
    shape = g.shapes[view.tensor]
    weight = gain.astype(np.float32).reshape(-1, 1, 1, 1)
    g.emit(
        node, "depthwise", (view.tensor,), shape, view.shape, weight=weight,
        bias=shift.astype(np.float32), kernel=(1, 1), stride=(1, 1),
    )  # fmt: skip
    g.views[out].order = view.order


def activation(g, node):
    """Relu and Clip: fused into the layer before, or a layer of their own."""
    low, high = (0.0, np.inf) if node.kind == "Relu" else _bounds(g, node)
    name = ACTIVATIONS.get((low, high))
    if name is None:
        raise Unsupported(f"limits to {low:g} and {high:g} (use ReLU or ReLU6)")
    view = g.view(node.inputs[0])
    layer = g.writer(node.inputs[0])
    if layer is not None:
        layer.activation = name
        g.alias(node)
        return
    shape = g.shapes[view.tensor]
    g.emit(node, "maxpool", (view.tensor,), shape, view.shape, activation=name)
    g.views[node.outputs[0]].order = view.order


def _bounds(g, node):
    """The limits of a Clip: attributes in old files, inputs in new ones."""
    a = node.attributes
    bounds = [a.get("min", -np.inf), a.get("max", np.inf)]
    for i, name in enumerate(node.inputs[1:3]):
        if name:
            bounds[i] = np.asarray(g.constant(name, "limits")).reshape(-1)[0]
    return tuple(float(b) if abs(b) < 1e30 else float(np.sign(b)) * np.inf for b in bounds)
