"""CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED."""

import numpy as np

from microzo.net import words as L

from ..model import network
from . import dead, once, scales
from .lowering import check_scales, hwc
from .problems import Unsupported

ACTIVATIONS = {0: "NONE", 1: "RELU", 2: "RELU_N1_TO_1", 3: "RELU6"}
SAME, VALID = 0, 1
MAX_WEIGHTS = 1 << 24
MOST = 65535  # cells of a window, a stride, a pad


def depthwise(lowering, node):
    """DEPTHWISE_CONV_2D with any channel multiplier: [1, H, W, C] to [C, H, W, 1]."""
    weight = lowering.tensor(node.inputs[1])
    shape = image(lowering, node.inputs[0])
    if len(weight.shape) != 4 or weight.shape[0] != 1 or weight.shape[3] % shape[2]:
        raise Unsupported(
            f"has weights of shape {weight.shape} for {shape[2]} channels (convert again)"
        )
    windowed(lowering, node, L.DWCONV, shape, weight.shape[1:3], weight.shape[3], 3)


def dense(lowering, node):
    """FULLY_CONNECTED; with several rows it is a 1x1 convolution over them."""
    x, weight = lowering.quantized(node.inputs[0]), lowering.tensor(node.inputs[1])
    if node.options.get("WeightsFormat", 0):
        raise Unsupported("has shuffled weights (convert it again)")
    if len(weight.shape) != 2 or x.size % weight.shape[1]:
        raise Unsupported(
            f"has weights of shape {weight.shape} for {x.size} inputs (convert again)"
        )
    out_c, k = weight.shape
    rows = x.size // k
    values = weights(lowering, node, 0)
    order = lowering.view(node.inputs[0]).order
    if order is not None:
        if rows != 1:
            raise Unsupported("reads transposed rows (export the model channels last)")
        values = values[:, np.argsort(order)]
    if rows == 1:
        op = lowering.emit(node, L.DENSE, (1, 1, k), (1, 1, out_c))
    else:
        op = lowering.emit(node, L.CONV, (rows, 1, k), (rows, 1, out_c))
    op.weight = np.ascontiguousarray(values.reshape(out_c, 1, 1, k))
    parameters(lowering, node, op)


def image(lowering, number):
    """(h, w, c) of an activation that must be an image, without pads taken over."""
    lowering.quantized(number)
    lowering.plain(number)
    return hwc(lowering.tensor(number))


def window(lowering, node, kernel, taken=(0, 0, 0, 0)):
    """(stride, pads, dilation) of a windowed node; ``taken``: pads of a PAD before it."""
    o = node.options
    stride = o.get("StrideH", 0), o.get("StrideW", 0)
    dilation = tuple(o.get(f"Dilation{d}Factor", 1) for d in "HW")
    if not all(1 <= n <= MOST for n in (*stride, *kernel, *dilation)):
        raise Unsupported(
            f"has window {kernel}, stride {stride}, dilation {dilation} (use 1 to {MOST})"
        )
    pads = o.get("Pads", (0, 0, 0, 0))
    if o.get("Padding") == SAME:
        pads = network.same_pads(
            hwc(lowering.tensor(node.inputs[0]))[:2], kernel, stride, dilation
        )
    elif o.get("Padding") != VALID:
        raise Unsupported(f"has padding mode {o.get('Padding')} (convert it again)")
    pads = tuple(p + t for p, t in zip(pads, taken))
    if not 0 <= min(pads) <= max(pads) <= MOST:
        raise Unsupported(f"has pads {pads} (use 0 to {MOST})")
    return stride, pads, dilation


def place(op, kernel, stride, pads, dilation=(1, 1)):
    """Put a window into an operator record."""
    op.dil_h, op.dil_w = dilation
    op.k_h, op.k_w = kernel
    op.s_h, op.s_w = stride
    op.p_t, op.p_b, op.p_l, op.p_r = pads


def activation(lowering, node, op):
    """The clamp of the fused activation."""
    number = node.options.get("FusedActivationFunction", 0)
    if number not in ACTIVATIONS:
        raise Unsupported(f"has fused activation {number} (use ReLU or ReLU6)")
    y = lowering.tensor(node.outputs[0])
    op.act_min, op.act_max = scales.clamp(ACTIVATIONS[number], y.scales[0], int(y.zero_points[0]))


def check_size(lowering, node, shape):
    """Unsupported unless the file gives the output the size that follows from its input."""
    wanted = hwc(lowering.tensor(node.outputs[0]))
    if wanted != shape:
        raise Unsupported(f"should write {shape}, the file says {wanted} (convert it again)")


def windowed(lowering, node, kind, shape, kernel, out_c, axis, order=(3, 1, 2, 0)):
    """CONV or DWCONV; ``order``: axes of depthwise weights as (channel, row, column, 1)."""
    view = lowering.view(node.inputs[0])
    stride, pads, dilation = window(lowering, node, kernel, view.pads)
    size = shape[0] - sum(view.pads[:2]), shape[1] - sum(view.pads[2:])
    out_h, out_w = network.conv_size(size, kernel, stride, pads, dilation)
    check_size(lowering, node, (out_h, out_w, out_c))
    values = weights(lowering, node, axis)
    op = lowering.emit(node, kind, (*size, shape[2]), (out_h, out_w, out_c))
    place(op, kernel, stride, pads, dilation)
    if kind == L.DWCONV:
        values = values.transpose(order)
    op.weight = np.ascontiguousarray(values)
    parameters(lowering, node, op)


def weights(lowering, node, axis):
    """The int8 weights, after checks of their quantization."""
    values = lowering.constant(node.inputs[1], "INT8", "weights")
    weight = lowering.tensor(node.inputs[1])
    channels = weight.shape[axis]
    if values.size >= MAX_WEIGHTS:
        raise Unsupported(f"has {values.size} weights (make it smaller)")
    if weight.scales is None or len(weight.scales) not in (1, channels):
        raise Unsupported(
            f"has weights {weight.name!r} without a scale per channel (convert again)"
        )
    check_scales(weight)
    if len(weight.scales) > 1 and weight.axis != axis:
        raise Unsupported(
            f"has weights {weight.name!r} quantized along axis {weight.axis}, not {axis} "
            f"(quantize per output channel)"
        )
    if weight.zero_points.any():
        raise Unsupported(f"has weights {weight.name!r} with zero points (quantize symmetrically)")
    return values


def parameters(lowering, node, op, part=slice(None)):
    """Bias, multipliers and clamp of an operator whose weights are in place.

    ``part``: which of the node's channels the operator makes.
    """
    op.bias = np.zeros(op.out_c, np.int32)
    if len(node.inputs) > 2 and node.inputs[2] != -1:
        bias = lowering.constant(node.inputs[2], "INT32", "biases")
        bias = bias.reshape(-1)[part]
        if bias.size != op.out_c:
            raise Unsupported(f"has {bias.size} biases for {op.out_c} channels (convert it again)")
        op.bias = bias.astype(np.int32)
    activation(lowering, node, op)
    effective = effective_scales(lowering, node)[part]
    try:
        op.mults, op.shifts = scales.multipliers(effective)
    except ValueError as error:
        raise Unsupported(f"cannot be scaled: {error} (convert it again)") from None
    if node.kind == "FULLY_CONNECTED":
        op.flags |= L.ROUND_ONCE
        lowering.inexact[op.tid] = once.fit(op, effective)
    lowering.changed[op.tid] = dead.settle(op)


def effective_scales(lowering, node):
    """float64 (channels,): s_x * s_w / s_y."""
    x, y = lowering.tensor(node.inputs[0]), lowering.tensor(node.outputs[0])
    weight = lowering.tensor(node.inputs[1])
    channels = weight.shape[3 if node.kind == "DEPTHWISE_CONV_2D" else 0]
    return np.broadcast_to(scales.channels(x.scales[0], weight.scales, y.scales[0]), channels)


def matmul(lowering, node):
    """BATCH_MATMUL by a constant: a dense layer over rows, rounded as a convolution."""
    x, weight = lowering.quantized(node.inputs[0]), lowering.tensor(node.inputs[1])
    if not lowering.is_constant(node.inputs[1]):
        raise Unsupported("of two activations (attention: use a dense layer or a convolution)")
    if len([n for n in weight.shape if n > 1]) > 2 or node.options.get("AdjX"):
        raise Unsupported(f"of {x.shape} and {weight.shape} (use a dense layer)")
    values = lowering.constant(node.inputs[1], "INT8", "weights")
    values = values.reshape(weight.shape[-2:])
    values = values if node.options.get("AdjY") else values.T
    check_scales(weight)
    if weight.scales is None or len(weight.scales) != 1 or weight.zero_points.any():
        raise Unsupported(f"has weights {weight.name!r} that are not symmetric (convert again)")
    out_c, k = values.shape
    if x.size % k:
        raise Unsupported(f"of {x.shape} and {weight.shape} (convert it again)")
    lowering.plain(node.inputs[0])
    rows = x.size // k
    kind = L.CONV if rows > 1 else L.DENSE
    op = lowering.emit(node, kind, (rows, 1, k), (rows, 1, out_c))
    op.weight = np.ascontiguousarray(values.reshape(out_c, 1, 1, k))
    op.bias = np.zeros(out_c, np.int32)
    scale = effective_scales(lowering, node)[:1]
    try:
        op.mults, op.shifts = scales.multipliers(np.broadcast_to(scale, out_c))
    except ValueError as error:
        raise Unsupported(f"cannot be scaled: {error} (convert it again)") from None
