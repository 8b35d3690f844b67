"""Operators without weights: pools, paddings, functions, and those that only change the view."""

import numpy as np

from microzo.net import words as L

from ..model import network
from . import scales, tables
from .lowering import hwc
from .problems import Unsupported
from .weighted import activation, check_size, image, place, window

CLAMPING = (L.CONV, L.DWCONV, L.DENSE, L.AVGPOOL, L.MAXPOOL, L.ADD, L.MUL, L.MEAN)
CONVOLUTIONS = ("CONV_2D", "DEPTHWISE_CONV_2D")


def pool(lowering, node):
    """AVERAGE_POOL_2D and MAX_POOL_2D."""
    x, y = lowering.quantized(node.inputs[0]), lowering.quantized(node.outputs[0])
    shape = image(lowering, node.inputs[0])
    if abs(x.scales[0] - y.scales[0]) > 1e-6 or x.zero_points[0] != y.zero_points[0]:
        raise Unsupported("changes the quantization (convert it again)")
    o = node.options
    kernel = o.get("FilterHeight", 0), o.get("FilterWidth", 0)
    view = lowering.views[node.inputs[0]]
    stride, pads = window(lowering, node, kernel, view.pads)
    shape = shape[0] - sum(view.pads[:2]), shape[1] - sum(view.pads[2:]), shape[2]
    out_h, out_w = network.conv_size(shape[:2], kernel, stride, pads)
    check_size(lowering, node, (out_h, out_w, shape[2]))
    kind = L.MAXPOOL if node.kind == "MAX_POOL_2D" else L.AVGPOOL
    op = lowering.emit(node, kind, shape, (out_h, out_w, shape[2]))
    place(op, kernel, stride, pads)
    activation(lowering, node, op)


def mean(lowering, node):
    """MEAN over rows, columns or both."""
    x, y = lowering.quantized(node.inputs[0]), lowering.quantized(node.outputs[0])
    shape = image(lowering, node.inputs[0])
    axes = lowering.constant(node.inputs[1], "INT32", "axes").reshape(-1)
    rank = len(x.shape)
    if not len(axes) or any(not -rank <= a < rank for a in axes):
        raise Unsupported(f"averages axes {axes.tolist()} of {x.shape} (convert it again)")
    axes = {int(a) % rank for a in axes if x.shape[a] > 1}
    spatial = {rank - 3: 0, rank - 2: 1}
    if not axes <= set(spatial) or (rank < 4 and axes > {rank - 2}):
        raise Unsupported(f"averages axes {sorted(axes)} of {x.shape} (average rows and columns)")
    kernel = [1, 1]
    for a in axes:
        kernel[spatial[a]] = x.shape[a]
    if max(kernel) > 255:
        raise Unsupported(f"averages {kernel} values (use 255 rows and columns at most)")
    out_shape = shape[0] // kernel[0], shape[1] // kernel[1], shape[2]
    if int(np.prod(out_shape)) != y.size:
        raise Unsupported(f"turns {x.shape} into {y.shape} (convert it again)")
    op = lowering.emit(node, L.MEAN, shape, out_shape)
    place(op, kernel, kernel, (0, 0, 0, 0))
    op.mult, op.shift = scales.mean(x.scales[0], y.scales[0], kernel[0] * kernel[1])


def pad(lowering, node):
    """PAD and PADV2 of rows and columns; convolutions and pools take the pads over."""
    lowering.quantized(node.outputs[0])
    shape = image(lowering, node.inputs[0])
    pads = _paddings(lowering, node)
    view = lowering.views[node.inputs[0]]
    fill = _fill(lowering, node) if node.kind == "PADV2" else view.zero_point
    if _taken_over(lowering, node, pads, fill):
        lowering.alias(node, pads=pads)
        return
    if fill != view.zero_point:
        raise Unsupported("pads with another value than 0 (pad with 0)")
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


def _taken_over(lowering, node, pads, fill):
    """Whether only windows larger than the pads read it, to which ``fill`` means nothing."""
    out = node.outputs[0]
    readers = lowering.readers.get(out, ())
    if out == lowering.core.target:
        return False
    for reader in readers:
        if reader.inputs[0] != out:
            return False
        if reader.kind in CONVOLUTIONS and fill == lowering.zero_point(node.inputs[0]):
            kernel = lowering.tensor(reader.inputs[1]).shape[1:3]
        elif reader.kind == "MAX_POOL_2D" and fill == -128:
            kernel = tuple(reader.options.get(f"Filter{d}", 0) for d in ("Height", "Width"))
        else:
            return False
        if len(kernel) != 2:
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
    """A standalone RELU, RELU6 or RELU_N1_TO_1."""
    _function(lowering, node, lambda x, y: tables.relu(node.kind, x, y))


def requantize(lowering, node):
    """QUANTIZE between two int8 tensors."""
    _function(lowering, node, tables.requantize)


def leaky_relu(lowering, node):
    """LEAKY_RELU."""
    _function(lowering, node, lambda x, y: tables.leaky_relu(node.options.get("Alpha", 0.0), x, y))


def curve(lowering, node):
    """LOGISTIC, TANH and HARD_SWISH."""
    _function(lowering, node, tables.CURVES[node.kind])


def _function(lowering, node, make):
    """One value to one value: into the clamp before it if it is one, else a table."""
    x, y = lowering.quantized(node.inputs[0]), lowering.quantized(node.outputs[0])
    try:
        table = make(x, y)
    except ValueError as error:
        raise Unsupported(f"cannot be scaled: {error} (convert it again)") from None
    low, high = int(table.min()), int(table.max())
    writer = lowering.writers.get(node.inputs[0])
    same = x.zero_points[0] == y.zero_points[0]
    is_clamp = same and np.array_equal(table, np.clip(tables.INT8, low, high))
    if is_clamp and (low, high) == (-128, 127):
        lowering.alias(node)
    elif is_clamp and _can_clamp(lowering, node, writer, low, high):
        writer.act_min, writer.act_max = max(writer.act_min, low), min(writer.act_max, high)
        lowering.rename(node, writer)
    else:
        lowering.plain(node.inputs[0])
        shape = hwc(x)
        lowering.emit(node, L.LUT, shape, shape).weight = table


def _can_clamp(lowering, node, writer, low, high):
    return (
        writer is not None
        and writer.kind in CLAMPING
        and lowering.only_reader(node.inputs[0])
        and max(writer.act_min, low) <= min(writer.act_max, high)
    )
