"""Operators without weights: sums, pools, paddings, and those that only change the view."""

import numpy as np
from microzo import layout as L

from .. import network
from . import scales, tables
from .lowering import hwc
from .problems import Unsupported
from .weighted import activation, check_size, image, place, window

CLAMPING = (L.CONV, L.DWCONV, L.DENSE, L.AVGPOOL, L.MAXPOOL, L.ADD)
CONVOLUTIONS = ("CONV_2D", "DEPTHWISE_CONV_2D")


def add(lowering, node):
    """ADD of two activations of one shape."""
    first, second = (lowering.quantized(i) for i in node.inputs)
    shape = image(lowering, node.inputs[0])
    if image(lowering, node.inputs[1]) != shape:
        raise Unsupported(f"adds shapes {first.shape} and {second.shape} (make both the same)")
    check_size(lowering, node, shape)
    other = lowering.views[node.inputs[1]]
    y = lowering.quantized(node.outputs[0])
    pairs = [
        scales.multiplier(effective)
        for effective in scales.addition(first.scales[0], second.scales[0], y.scales[0])
    ]
    op = lowering.emit(node, L.ADD, shape, shape, in2=other.tensor, in2_zp=other.zero_point)
    (op.mult1, op.shift1), (op.mult2, op.shift2), (op.mult, op.shift) = pairs
    activation(lowering, node, op)


def pool(lowering, node):
    """AVERAGE_POOL_2D and MAX_POOL_2D."""
    x, y = lowering.quantized(node.inputs[0]), lowering.quantized(node.outputs[0])
    shape = image(lowering, node.inputs[0])
    if abs(x.scales[0] - y.scales[0]) > 1e-6 or x.zero_points[0] != y.zero_points[0]:
        raise Unsupported("changes the quantization (convert it again)")
    o = node.options
    kernel = o.get("FilterHeight", 0), o.get("FilterWidth", 0)
    stride, pads = window(lowering, node, kernel)
    out_h, out_w = network.conv_size(shape[:2], kernel, stride, pads)
    check_size(lowering, node, (out_h, out_w, shape[2]))
    kind = L.MAXPOOL if node.kind == "MAX_POOL_2D" else L.AVGPOOL
    op = lowering.emit(node, kind, shape, (out_h, out_w, shape[2]))
    place(op, kernel, stride, pads)
    activation(lowering, node, op)


def pad(lowering, node):
    """PAD and PADV2 of rows and columns with the zero point; convolutions take the pads over."""
    lowering.quantized(node.outputs[0])
    shape = image(lowering, node.inputs[0])
    pads = _paddings(lowering, node)
    if node.kind == "PADV2" and _fill(lowering, node) != lowering.zero_point(node.inputs[0]):
        raise Unsupported("pads with another value than 0 (pad with 0)")
    view = lowering.views[node.inputs[0]]
    if _taken_over(lowering, node, pads):
        lowering.alias(node, pads=pads)
        return
    out_shape = shape[0] + pads[0] + pads[1], shape[1] + pads[2] + pads[3], shape[2]
    check_size(lowering, node, out_shape)
    if lowering.zero_point(node.outputs[0]) != view.zero_point:
        raise Unsupported("changes the zero point (convert it again)")
    op = lowering.emit(node, L.PAD, shape, out_shape)
    op.p_t, op.p_b, op.p_l, op.p_r = pads


def _paddings(lowering, node):
    """(top, bottom, left, right)."""
    paddings = lowering.constant(node.inputs[1], "INT32", "paddings")
    if paddings.shape != (4, 2) or paddings[[0, 3]].any():
        raise Unsupported("pads more than rows and columns (pad images only)")
    pads = tuple(int(n) for n in paddings[1:3].reshape(-1))
    if not all(0 <= n <= 255 for n in pads):
        raise Unsupported(f"has pads {pads} (use 0 to 255)")
    return pads


def _fill(lowering, node):
    value = lowering.constant(node.inputs[2], "INT8", "fill")
    if value.size != 1:
        raise Unsupported("has several fills (pad with 0)")
    return int(value.reshape(-1)[0])


def _taken_over(lowering, node, pads):
    """Whether only convolutions read the result, with windows larger than the pads."""
    out = node.outputs[0]
    readers = lowering.readers.get(out, ())
    if out == lowering.core.target or not all(r.kind in CONVOLUTIONS for r in readers):
        return False
    for reader in readers:
        kernel = lowering.tensor(reader.inputs[1]).shape[1:3]
        if reader.inputs[0] != out or len(kernel) != 2:
            return False
        _, (top, bottom, left, right) = window(lowering, reader, kernel, pads)
        if max(top, bottom) >= kernel[0] or max(left, right) >= kernel[1]:
            return False
    return True


def reshape(lowering, node):
    """RESHAPE, SQUEEZE and EXPAND_DIMS: the same values in the same order."""
    x, y = (lowering.tensor(i) for i in (node.inputs[0], node.outputs[0]))
    if x.size != y.size:
        raise Unsupported(f"turns {x.shape} into {y.shape} (convert it again)")
    hwc(y)
    lowering.alias(node)


def transpose(lowering, node):
    """TRANSPOSE as a change of view; a dense layer, or one more TRANSPOSE, can undo it."""
    x = lowering.tensor(node.inputs[0])
    axes = lowering.constant(node.inputs[1], "INT32", "axes").reshape(-1)
    if sorted(axes.tolist()) != list(range(len(x.shape))):
        raise Unsupported(f"has axes {axes.tolist()} for shape {x.shape} (convert it again)")
    view = lowering.views[node.inputs[0]]
    order = np.arange(x.size) if view.order is None else view.order
    order = order.reshape(x.shape).transpose(axes).reshape(-1)
    if np.array_equal(order, np.arange(x.size)):
        order = None
    lowering.alias(node, order=order)


def relu(lowering, node):
    """A standalone RELU, RELU6 or RELU_N1_TO_1 with the quantization of its input: a clamp."""
    x, y = lowering.quantized(node.inputs[0]), lowering.quantized(node.outputs[0])
    table = tables.relu(node.kind, x, y)
    _function(lowering, node, table)


def requantize(lowering, node):
    """QUANTIZE between two int8 tensors."""
    x, y = lowering.quantized(node.inputs[0]), lowering.quantized(node.outputs[0])
    _function(lowering, node, tables.requantize(x, y))


def leaky_relu(lowering, node):
    """LEAKY_RELU."""
    x, y = lowering.quantized(node.inputs[0]), lowering.quantized(node.outputs[0])
    _function(lowering, node, tables.leaky_relu(node.options.get("Alpha", 0.0), x, y))


def _function(lowering, node, table):
    """One value to one value: into the clamp before it if it is one, else an operator."""
    low, high = int(table.min()), int(table.max())
    writer = lowering.writers.get(node.inputs[0])
    same = lowering.zero_point(node.inputs[0]) == lowering.zero_point(node.outputs[0])
    is_clamp = same and np.array_equal(table, np.clip(tables.INT8, low, high))
    if is_clamp and (low, high) == (-128, 127):
        lowering.alias(node)
    elif is_clamp and _can_clamp(lowering, node, writer, low, high):
        writer.act_min, writer.act_max = max(writer.act_min, low), min(writer.act_max, high)
        lowering.rename(node, writer)
    else:
        raise Unsupported("is not a clamp of the operator before it (fuse it)")


def _can_clamp(lowering, node, writer, low, high):
    return (
        writer is not None
        and writer.kind in CLAMPING
        and lowering.only_reader(node.inputs[0])
        and max(writer.act_min, low) <= min(writer.act_max, high)
    )
