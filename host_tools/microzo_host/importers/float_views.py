"""ONNX pools, paddings, and operators that only change the view."""

import numpy as np

from ..model import network
from . import orders
from .float_layers import window
from .problems import Unsupported


def pool(g, node):
    """MaxPool and AveragePool; pads that count are made by a layer of their own."""
    (h, w, c), view = g.image(node.inputs[0])
    if len(node.outputs) > 1 and any(node.outputs[1:]):
        raise Unsupported("also gives the places of its maxima (use the values only)")
    shape = [int(k) for k in node.attributes["kernel_shape"]]
    size = [1, *shape] if len(shape) == 1 else shape
    kernel, stride, pads, dilation = window(node, (h, w), size)
    if dilation != (1, 1):
        raise Unsupported("is dilated (use a stride)")
    averages = node.kind == "AveragePool"
    if node.attributes.get("ceil_mode", 0):
        pads = _ceil(
            (h, w), kernel, stride, pads, averages and node.attributes.get("count_include_pad")
        )
    tensor = view.tensor
    if averages and any(pads) and node.attributes.get("count_include_pad", 0):
        g.emit(
            node, "pad", (tensor,), (h + pads[0] + pads[1], w + pads[2] + pads[3], c), pads=pads
        )
        h, w, tensor, pads = (
            h + pads[0] + pads[1],
            w + pads[2] + pads[3],
            len(g.layers),
            (0, 0, 0, 0),
        )
    if max(pads[:2]) >= kernel[0] or max(pads[2:]) >= kernel[1]:
        raise Unsupported(f"has pads {pads} as large as its window {kernel} (pad less)")
    oh, ow = network.conv_size((h, w), kernel, stride, pads)
    if min(oh, ow) < 1:
        raise Unsupported("has a window larger than its input (make it smaller)")
    kind = "avgpool" if averages else "maxpool"
    view_shape = (1, c, ow) if len(view.shape) == 3 else None
    g.emit(node, kind, (tensor,), (oh, ow, c), view_shape, kernel=kernel, stride=stride, pads=pads)


def _ceil(size, kernel, stride, pads, counts):
    """Pads with what ceil_mode adds at the end, where another window begins inside the image."""
    result = list(pads)
    for d, n in enumerate(size):
        room = n + pads[2 * d] + pads[2 * d + 1] - kernel[d]
        extra = -room % stride[d]
        if extra and room + extra < n + pads[2 * d]:
            if counts:
                raise Unsupported("counts pads in ceil mode (use floor mode)")
            result[2 * d + 1] += extra
    return tuple(result)


def global_pool(g, node):
    """GlobalAveragePool, GlobalMaxPool, ReduceMean, ReduceMax, in whatever order."""
    view = g.view(node.inputs[0])
    rank, keep = len(view.shape), True
    axes = range(2, rank)
    if node.kind.startswith("Reduce"):
        axes = node.attributes.get("axes")
        if axes is None and len(node.inputs) > 1 and node.inputs[1]:
            axes = g.constant(node.inputs[1], "axes").reshape(-1)
        keep = bool(node.attributes.get("keepdims", 1))
        axes = sorted({int(a) % rank for a in (range(rank) if axes is None else axes)})
    axes = [a for a in axes if view.shape[a] > 1]
    shape = [1 if a in axes else n for a, n in enumerate(view.shape)]
    if not keep:
        gone = node.attributes.get("axes")
        if gone is None:
            gone = g.constant(node.inputs[1], "axes").reshape(-1)
        gone = {int(a) % rank for a in gone}
        shape = [n for a, n in enumerate(shape) if a not in gone]
    if not axes:
        g.alias(node, shape=tuple(shape))
        return
    ours = g.shapes[view.tensor]
    match = orders.reduction(view.order, view.shape, axes, [ours])
    if match is None or match[0] not in (ours, (ours[0] * ours[1], ours[2], 1)):
        raise Unsupported(f"reduces axes {axes} of {view.shape} (reduce rows, columns, channels)")
    read, kernel, places = match
    if read != ours:
        raise Unsupported("reduces channels (reduce rows and columns)")
    size = ours[0] // kernel[0], ours[1] // kernel[1], ours[2]
    kind = "maxpool" if node.kind in ("GlobalMaxPool", "ReduceMax") else "mean"
    g.emit(node, kind, (view.tensor,), size, shape, places, kernel=kernel, stride=kernel)


def reshape(g, node):
    """Reshape, Flatten, Squeeze, Unsqueeze: the same values in the same order."""
    view = g.raw(node.inputs[0])
    shape = list(_reshaped(g, node, view.shape))
    if int(np.prod(shape)) != len(view.order) or shape[:1] != [1]:
        raise Unsupported(f"turns {view.shape} into {tuple(shape)} (keep the batch first)")
    g.alias(node, shape=tuple(shape))


def _reshaped(g, node, shape):
    a = node.attributes
    if node.kind == "Flatten":
        axis = a.get("axis", 1) % (len(shape) + 1)
        return int(np.prod(shape[:axis])), int(np.prod(shape[axis:]))
    if node.kind == "Reshape":
        wanted = [int(n) for n in g.constant(node.inputs[1], "shape").reshape(-1)]
        if not a.get("allowzero", 0):
            wanted = [shape[i] if n == 0 and i < len(shape) else n for i, n in enumerate(wanted)]
        if wanted.count(-1) == 1:
            rest = -int(np.prod(wanted))
            wanted[wanted.index(-1)] = int(np.prod(shape)) // max(rest, 1)
        return wanted
    axes = a.get("axes")
    if axes is None and len(node.inputs) > 1:
        axes = g.constant(node.inputs[1], "axes").reshape(-1)
    if node.kind == "Squeeze":
        if axes is None:
            return [1] + [n for n in shape[1:] if n != 1]
        gone = {int(x) % len(shape) for x in axes}
        return [n for i, n in enumerate(shape) if i not in gone]
    result, rank = list(shape), len(shape) + len(axes)
    for axis in sorted(int(x) % rank for x in axes):
        result.insert(axis, 1)
    return result


def transpose(g, node):
    """Transpose as a change of view."""
    view = g.raw(node.inputs[0])
    axes = node.attributes.get("perm", list(range(len(view.shape)))[::-1])
    if sorted(axes) != list(range(len(view.shape))):
        raise Unsupported(f"has axes {list(axes)} for shape {view.shape} (export it again)")
    order = view.order.reshape(view.shape).transpose(axes).reshape(-1)
    g.alias(node, order=order, shape=tuple(view.shape[i] for i in axes))


def same(g, node):
    """Identity and Dropout."""
    g.alias(node)
