"""Pools and means: AVERAGE_POOL_2D, MAX_POOL_2D, MEAN, REDUCE_MAX."""

import numpy as np

from microzo.net import words as L

from ..model import network
from . import orders, scales
from .lowering import hwc
from .problems import Unsupported
from .weighted import activation, check_size, image, place, window

MOST = 1 << 20  # values of a tensor whose order is looked at one by one


def pool(lowering, node):
    """AVERAGE_POOL_2D and MAX_POOL_2D."""
    same_quantization(lowering, node)
    shape = image(lowering, node.inputs[0])
    o = node.options
    kernel = o.get("FilterHeight", 0), o.get("FilterWidth", 0)
    view = lowering.views[node.inputs[0]]
    stride, pads, _ = window(lowering, node, kernel, view.pads)
    shape = shape[0] - sum(view.pads[:2]), shape[1] - sum(view.pads[2:]), shape[2]
    out_h, out_w = network.conv_size(shape[:2], kernel, stride, pads)
    check_size(lowering, node, (out_h, out_w, shape[2]))
    kind = L.MAXPOOL if node.kind == "MAX_POOL_2D" else L.AVGPOOL
    op = lowering.emit(node, kind, shape, (out_h, out_w, shape[2]))
    place(op, kernel, stride, pads)
    activation(lowering, node, op)


def mean(lowering, node):
    """MEAN over rows, columns, both, or channels, in whatever order the file has them."""
    x, y = lowering.quantized(node.inputs[0]), lowering.quantized(node.outputs[0])
    shape, kernel, order = _reduced(lowering, node)
    op = _emit(lowering, node, L.MEAN, shape, kernel, order)
    op.mult, op.shift = scales.mean(x.scales[0], y.scales[0], kernel[0] * kernel[1])


def largest(lowering, node):
    """REDUCE_MAX, as MEAN."""
    same_quantization(lowering, node)
    _emit(lowering, node, L.MAXPOOL, *_reduced(lowering, node))


def same_quantization(lowering, node):
    """Unsupported unless input and output have one scale and zero point."""
    x, y = lowering.quantized(node.inputs[0]), lowering.quantized(node.outputs[0])
    if abs(x.scales[0] - y.scales[0]) > 1e-6 or x.zero_points[0] != y.zero_points[0]:
        raise Unsupported("changes the quantization (convert it again)")


def _emit(lowering, node, kind, shape, kernel, order):
    out_shape = shape[0] // kernel[0], shape[1] // kernel[1], shape[2]
    op = lowering.emit(node, kind, shape, out_shape)
    place(op, kernel, kernel, (0, 0, 0, 0))
    lowering.reorder(node.outputs[0], order)
    return op


def _reduced(lowering, node):
    """((h, w, c) as it is read, (rows, columns) of a window, order of the results)."""
    x, y = lowering.tensor(node.inputs[0]), lowering.tensor(node.outputs[0])
    axes = lowering.constant(node.inputs[1], "INT32", "axes").reshape(-1)
    rank = len(x.shape)
    if not len(axes) or any(not -rank <= a < rank for a in axes):
        raise Unsupported(f"reduces axes {axes.tolist()} of {x.shape} (convert it again)")
    axes = sorted({int(a) % rank for a in axes})
    count = int(np.prod([x.shape[a] for a in axes]))
    if y.size * count != x.size:
        raise Unsupported(f"turns {x.shape} into {y.shape} (convert it again)")
    view = lowering.view(node.inputs[0])
    if any(view.pads):
        raise Unsupported("reads what a PAD made (pad before a convolution)")
    match = _in_place(lowering, node, axes) if view.order is None else None
    if match is None and x.size <= MOST:
        order = np.arange(x.size) if view.order is None else view.order
        readings = hwc(x), lowering.shapes[view.tensor]
        match = orders.reduction(order, x.shape, axes, readings)
    if match is None:
        raise Unsupported(
            f"reduces axes {axes} of {x.shape} (reduce rows, columns or channels: "
            f"GlobalAveragePooling, GlobalMaxPooling)"
        )
    shape, kernel, places = match
    return shape, kernel, None if places is None else orders.in_place(places)


def _in_place(lowering, node, axes):
    """What orders.reduction() gives for rows and columns of a tensor that lies as ours."""
    (h, w, c), places = lowering.axes(node.inputs[0])
    x = lowering.tensor(node.inputs[0])
    reduced = {places[a] for a in axes if x.shape[a] > 1}
    if not reduced <= {0, 1}:
        return None
    return (h, w, c), (h if 0 in reduced else 1, w if 1 in reduced else 1), None
