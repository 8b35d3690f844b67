"""ONNX pools, paddings, and operators that only change the view."""

import numpy as np

from ..model import network
from .float_layers import window
from .problems import Unsupported


def pool(g, node):
    """MaxPool and AveragePool; pads that count are made by a layer of their own."""
    (h, w, c), view = g.image(node.inputs[0])
    if len(node.outputs) > 1 and any(node.outputs[1:]):
        raise Unsupported("also gives the places of its maxima (use the values only)")
    shape = [int(k) for k in node.attributes["kernel_shape"]]
    kernel, stride, pads = window(node, (h, w), [1, *shape] if len(shape) == 1 else shape)
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
    """GlobalAveragePool, GlobalMaxPool, and ReduceMean over the image."""
    (h, w, c), view = g.image(node.inputs[0])
    keep = True
    if node.kind == "ReduceMean":
        rank = len(view.shape)
        axes = node.attributes.get("axes")
        if axes is None and len(node.inputs) > 1:
            axes = g.constant(node.inputs[1], "axes").reshape(-1)
        axes = sorted(int(a) % rank for a in (() if axes is None else axes))
        if axes != list(range(2, rank)):
            raise Unsupported(f"averages axes {axes} (average rows and columns)")
        keep = bool(node.attributes.get("keepdims", 1))
    view_shape = (1, c, *(1,) * (len(view.shape) - 2)) if keep else (1, c)
    if node.kind == "GlobalMaxPool":
        if max(h, w) > 255:
            raise Unsupported("covers more than 255 rows or columns (use smaller images)")
        g.emit(
            node, "maxpool", (view.tensor,), (1, 1, c), view_shape, kernel=(h, w), stride=(h, w)
        )
        return
    g.emit(node, "globalpool", (view.tensor,), (1, 1, c), view_shape)


def pad(g, node):
    """Pad with zeros around the image."""
    (h, w, c), view = g.image(node.inputs[0])
    a = node.attributes
    pads = a.get("pads")
    if pads is None:
        pads = g.constant(node.inputs[1], "pads").reshape(-1)
    value = a.get("value", 0.0)
    if len(node.inputs) > 2 and node.inputs[2]:
        value = np.asarray(g.constant(node.inputs[2], "value")).reshape(-1)[0]
    if len(node.inputs) > 3 and node.inputs[3]:
        raise Unsupported("pads chosen axes (pad all of them)")
    if a.get("mode", "constant") != "constant" or value != 0:
        raise Unsupported("pads with another value than 0 (pad with 0)")
    pads = [int(p) for p in pads]
    if (
        len(pads) != 8
        or pads[0]
        or pads[1]
        or pads[4]
        or pads[5]
        or min(pads) < 0
        or max(pads) > 255
    ):
        raise Unsupported(f"has pads {pads} (pad rows and columns by 0 to 255)")
    t, left, b, right = pads[2], pads[3], pads[6], pads[7]
    if not any(pads):
        g.alias(node)
        return
    g.emit(node, "pad", (view.tensor,), (h + t + b, w + left + right, c), pads=(t, b, left, right))


def reshape(g, node):
    """Reshape, Flatten, Squeeze, Unsqueeze: the same values in the same order."""
    view = g.view(node.inputs[0])
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
    view = g.view(node.inputs[0])
    axes = node.attributes.get("perm", list(range(len(view.shape)))[::-1])
    if sorted(axes) != list(range(len(view.shape))):
        raise Unsupported(f"has axes {list(axes)} for shape {view.shape} (export it again)")
    order = view.order.reshape(view.shape).transpose(axes).reshape(-1)
    g.alias(node, order=order, shape=tuple(view.shape[i] for i in axes))


def same(g, node):
    """Identity and Dropout."""
    g.alias(node)
