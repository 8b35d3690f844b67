"""ONNX operators with weights, sums, and what is folded into them."""

import dataclasses

import numpy as np

from ..model import network
from . import orders
from .problems import Unsupported

MOST, MOST_GROUPS = 65535, 64


def conv(g, node):
    """Conv, plain or depthwise, 2-D or 1-D."""
    (h, w, c), view = g.image(node.inputs[0])
    weight = np.asarray(g.constant(node.inputs[1], "weights"), np.float32)
    if weight.ndim == 3:
        weight = weight[:, :, None, :]
    if weight.ndim != 4 or len(view.shape) != len(g.constants[node.inputs[1]].shape):
        raise Unsupported(f"has weights of shape {weight.shape} (use a 1-D or 2-D convolution)")
    group = node.attributes.get("group", 1)
    if group < 1 or weight.shape[1] * group != c or weight.shape[0] % group:
        raise Unsupported(
            f"has weights {weight.shape} in {group} groups for {c} channels (export it again)"
        )
    kind = "conv" if weight.shape[1] == c else "depthwise"
    kernel, stride, pads, dilation = window(node, (h, w), weight.shape[2:])
    oh, ow = network.conv_size((h, w), kernel, stride, pads, dilation)
    if min(oh, ow) < 1:
        raise Unsupported("has a window larger than its input (make it smaller)")
    bias = np.zeros(len(weight), np.float32)
    if len(node.inputs) > 2 and node.inputs[2]:
        bias = np.asarray(g.constant(node.inputs[2], "biases"), np.float32).reshape(-1)
    out = len(weight)
    view_shape = (1, out, ow) if len(view.shape) == 3 else None
    if weight.shape[1] not in (1, c):
        _grouped(g, node, view, group, weight, _sized(bias, out), (oh, ow), view_shape, dict(
            kernel=kernel, stride=stride, pads=pads, dilation=dilation))  # fmt: skip
        return
    g.emit(
        node, kind, (view.tensor,), (oh, ow, out), view_shape,
        weight=np.ascontiguousarray(weight.transpose(0, 2, 3, 1)), bias=_sized(bias, out),
        kernel=kernel, stride=stride, pads=pads, dilation=dilation,
    )  # fmt: skip
    g.keep_scales(node.inputs[1], 0)


def _grouped(g, node, view, groups, weight, bias, size, view_shape, settings):
    """A convolution for each group of channels, then all joined."""
    if groups > MOST_GROUPS:
        raise Unsupported(f"has {groups} groups (use {MOST_GROUPS} at most, or depthwise)")
    h, w, c = g.shapes[view.tensor]
    inside, each = c // groups, len(weight) // groups
    joined = None
    for i in range(groups):
        pads = (0, 0, -i * inside, (i + 1) * inside - c)
        part = g.part(node, "channels", (view.tensor,), (h, w, inside), pads=pads)
        rows = slice(i * each, (i + 1) * each)
        part = g.part(
            node, "conv", (part,), (*size, each),
            weight=np.ascontiguousarray(weight[rows].transpose(0, 2, 3, 1)), bias=bias[rows],
            **settings,
        )  # fmt: skip
        if i == groups - 1:
            g.emit(node, "concat", (joined, part), (*size, len(weight)), view_shape)
        else:
            joined = part if joined is None else g.part(
                node, "concat", (joined, part), (*size, (i + 1) * each))  # fmt: skip


def window(node, size, kernel):
    """(kernel, stride, (top, bottom, left, right), dilation) of a windowed node; 1-D gets a
    height of 1."""
    a = node.attributes
    kernel = tuple(int(k) for k in kernel)
    one_d = len(a.get("kernel_shape", kernel)) == 1

    def pair(name, default):
        values = [int(v) for v in a.get(name, default)]
        return tuple([1, *values] if one_d and len(values) == 1 else values)

    stride, dilation = pair("strides", (1, 1)), pair("dilations", (1, 1))
    mode = a.get("auto_pad", "NOTSET")
    if mode == "SAME_UPPER":
        pads = network.same_pads(size, kernel, stride, dilation)
    elif mode == "SAME_LOWER":
        top, bottom, left, right = network.same_pads(size, kernel, stride, dilation)
        pads = bottom, top, right, left
    elif mode == "VALID" or "pads" not in a:
        pads = (0, 0, 0, 0)
    else:
        raw = [int(p) for p in a["pads"]]
        raw = [0, raw[0], 0, raw[1]] if len(raw) == 2 else raw
        pads = raw[0], raw[2], raw[1], raw[3]
    ok = len(kernel) == len(stride) == len(dilation) == 2
    if not ok or not all(1 <= n <= MOST for n in (*kernel, *stride, *dilation)):
        raise Unsupported(
            f"has window {kernel}, stride {stride}, dilation {dilation} (use 1-D or 2-D)"
        )
    if not all(0 <= p <= MOST for p in pads):
        raise Unsupported(f"has pads {pads} (use 0 to {MOST})")
    return kernel, stride, pads, dilation


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
    if weight.ndim == 2 and weight.shape[1] < len(view.order):
        _over_rows(g, node, weight, bias)
        return
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


def _over_rows(g, node, weight, bias):
    """A dense layer of the last axis, row by row: a 1x1 convolution."""
    ours, view, places = g.axes(node.inputs[0])
    if (
        weight.shape[1] != view.shape[-1]
        or places[-1] not in (2, None)
        or ours[2] != view.shape[-1]
    ):
        raise Unsupported(f"multiplies {view.shape} by {weight.T.shape} (flatten before it)")
    shape = (*ours[:2], len(weight))
    g.emit(
        node, "conv", (view.tensor,), shape, (*view.shape[:-1], len(weight)),
        orders.moved((*places[:-1], 2), shape),
        weight=np.ascontiguousarray(weight[:, None, None, :]), bias=_sized(bias, len(weight)),
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
    affine(g, node, *(per_channel(g, node.inputs[0], v) for v in (gain, shift)))


def per_channel(g, name, value):
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


def scaler(g, node):
    """scikit-learn's StandardScaler: (x - offset) * scale, feature by feature."""
    a = node.attributes
    scale = np.asarray(a.get("scale", [1.0]), np.float64)
    shift = -np.asarray(a.get("offset", [0.0]), np.float64) * scale
    name = node.inputs[0]
    affine(
        g, node, *(per_channel(g, name, v + np.zeros_like(shift + scale)) for v in (scale, shift))
    )
