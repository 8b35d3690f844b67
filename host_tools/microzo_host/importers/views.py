"""Operators that only change how values are read: RESHAPE, SQUEEZE, EXPAND_DIMS, TRANSPOSE."""

import numpy as np

from .lowering import hwc
from .orders import in_place
from .problems import Unsupported


def reshape(lowering, node):
    """RESHAPE, SQUEEZE and EXPAND_DIMS: the same values in the same order."""
    x, y = (lowering.tensor(i) for i in (node.inputs[0], node.outputs[0]))
    if x.size != y.size:
        raise Unsupported(f"turns {x.shape} into {y.shape} (convert it again)")
    hwc(y)
    lowering.alias(node)


def transpose(lowering, node):
    """TRANSPOSE as a change of view; a dense layer, a mean or one more TRANSPOSE can undo it."""
    x = lowering.tensor(node.inputs[0])
    axes = lowering.constant(node.inputs[1], "INT32", "axes").reshape(-1)
    if sorted(axes.tolist()) != list(range(len(x.shape))):
        raise Unsupported(f"has axes {axes.tolist()} for shape {x.shape} (convert it again)")
    view = lowering.views[node.inputs[0]]
    order = np.arange(x.size) if view.order is None else view.order
    order = order.reshape(x.shape).transpose(axes).reshape(-1)
    lowering.alias(node, order=in_place(order))
