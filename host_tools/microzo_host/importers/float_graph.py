"""Turns the nodes of an ONNX graph into the layers of a float ``network.Network``.

Our tensors are (h, w, c). A *view* says how an ONNX tensor, usually channels
first, reads one of them: flattenings, reshapes and transposes change the view
only, and a dense layer takes its columns in the order that the view tells.
"""

import dataclasses
import functools
import math
import re

import numpy as np

from ..model import network
from . import orders
from .problems import Problems, Unsupported, label

MAX_TENSOR = 1 << 22
# What NumPy and Python raise for attributes and constants that make no sense.
DAMAGE = (ValueError, TypeError, IndexError, KeyError, OverflowError, ZeroDivisionError)


@dataclasses.dataclass
class View:
    """Value number i of an ONNX tensor of ``shape`` (batch 1) is ours number order[i].

    ``curve``: the function of our values that it holds, None for themselves; a layer
    ``name`` makes it when something else than a function of one value reads it.
    """

    tensor: int
    shape: tuple
    order: np.ndarray
    curve: object = None
    name: str = ""


@functools.lru_cache(maxsize=64)
def channels_first(h, w, c):
    """The order of a (1, c, h, w) tensor."""
    return np.arange(h * w * c, dtype=np.int32).reshape(h, w, c).transpose(2, 0, 1).reshape(-1)


class FloatGraph:
    """The layers made so far; layer i writes tensor i + 1."""

    def __init__(self, graph, path):
        self.graph, self.constants = graph, graph.constants
        self.layers, self.shapes, self.views = [], [], {}
        self.ranges = {}  # tensor: (scale, zero point), from QDQ nodes
        self.weight_scales = {}  # layer number: scales by output channel, from QDQ nodes
        self.constant_scales = {}  # name of a dequantized constant: (scales, axis)
        self.restored = []  # layers whose ReLU is a guess from a range
        self.shared = set()  # tensors that are read through several views
        self.problems = Problems(path)
        self.readers = {}
        for node in graph.nodes:
            for name in node.inputs:
                self.readers.setdefault(name, []).append(node)

    # reading the graph

    def raw(self, name):
        """How an activation is read, perhaps through a function of each value."""
        if name not in self.views:
            raise Unsupported(f"needs {name!r} to depend on the input (fold it in the export)")
        return self.views[name]

    def view(self, name):
        """How an activation is read, whose values are those of one of our tensors."""
        view = self.raw(name)
        if view.curve is not None:
            self._append("function", view.name, (view.tensor,), self.shapes[view.tensor],
                         function=view.curve)  # fmt: skip
            view = View(len(self.layers), view.shape, view.order)
            self.views[name] = view
        return view

    def axes(self, name):
        """((h, w, c), view, which of these each axis of an activation is)"""
        view = self.view(name)
        ours = self.shapes[view.tensor]
        places = orders.axes(view.order, view.shape, ours)
        if places is None:
            raise Unsupported(f"reads {name!r} of shape {view.shape} in an unusual order")
        return ours, view, places

    def constant(self, name, what):
        """The value of an input that must be known."""
        if name not in self.constants:
            raise Unsupported(f"needs constant {what} (export with fixed parameters)")
        return self.constants[name]

    def image(self, name):
        """((h, w, c), view) of an activation that lies channels first: rank 4, or 3 for 1-D."""
        view = self.view(name)
        shape = self.shapes[view.tensor]
        wanted = (1, shape[2], shape[0], shape[1])
        one_d = (1, shape[2], shape[1]) if shape[0] == 1 else None
        if view.shape not in (wanted, one_d) or not np.array_equal(
            view.order, channels_first(*shape)
        ):
            raise Unsupported(
                f"reads {name!r} of shape {view.shape} in an unusual order (permute less)"
            )
        return shape, view

    def only_reader(self, name):
        """Whether one node alone depends on a tensor."""
        return len(self.readers.get(name, ())) == 1 and name not in self.graph.outputs

    def writer(self, name):
        """The layer that made an activation, if nothing else reads it and nothing follows it."""
        view = self.views.get(name)
        if view is None or view.tensor == 0 or not self.only_reader(name):
            return None
        if view.curve is not None:
            return None
        if view.tensor in self.shared:
            return None
        layer = self.layers[view.tensor - 1]
        return layer if layer.activation == "none" else None

    # making layers

    def source(self, name, shape, order, view_shape):
        """Declare the network's input, of our shape (h, w, c)."""
        self.shapes.append(tuple(shape))
        self.views[name] = View(0, tuple(view_shape), order)

    def emit(self, node, kind, inputs, shape, view_shape=None, order=None, out=None, **fields):
        """Append a layer that writes ``shape`` (h, w, c), read channels first unless told."""
        if math.prod(shape) > MAX_TENSOR:
            raise Unsupported(f"makes {math.prod(shape)} values (use a smaller input)")
        layer = self._append(kind, layer_name(node), inputs, shape, **fields)
        h, w, c = shape
        view_shape = (1, c, h, w) if view_shape is None else view_shape
        order = channels_first(h, w, c) if order is None else order
        self.views[out or node.outputs[0]] = View(len(self.layers), tuple(view_shape), order)
        return layer

    def _append(self, kind, name, inputs, shape, **fields):
        taken = {layer.name for layer in self.layers}
        unique, number = name, 2
        while unique in taken:
            unique, number = f"{name}_{number}", number + 1
        self.layers.append(network.Layer(kind, unique, tuple(inputs), **fields))
        self.shapes.append(tuple(shape))
        return self.layers[-1]

    def part(self, node, kind, inputs, shape, **fields):
        """Append a layer that makes a part of what a node does; returns its tensor."""
        if math.prod(shape) > MAX_TENSOR:
            raise Unsupported(f"makes {math.prod(shape)} values (use a smaller input)")
        self._append(kind, layer_name(node), inputs, shape, **fields)
        return len(self.layers)

    def alias(self, node, **changes):
        """The output is the first input, read in another way."""
        view = self.raw(node.inputs[0])
        if not self.only_reader(node.inputs[0]):
            self.shared.add(view.tensor)
        self.views[node.outputs[0]] = dataclasses.replace(view, **changes)

    def keep_scales(self, name, axis):
        """Let the last layer keep the weight scales that a QDQ file gives along ``axis``."""
        scales, along = self.constant_scales.get(name, (None, 0))
        if scales is not None and (scales.size == 1 or along == axis):
            channels = len(self.layers[-1].weight)
            self.weight_scales[len(self.layers) - 1] = np.broadcast_to(scales, channels).copy()

    def run(self, node, handler, cure):
        """Convert one node; what is unsupported is noted, and what depends on it passed over."""
        where = label(node.kind, node.name or node.outputs[0])
        if handler is None:
            self.problems.add(f"{where} ({cure})")
            return
        if not all(i in self.views or i in self.constants or not i for i in node.inputs):
            return
        try:
            handler(self, node)
        except Unsupported as problem:
            self.problems.add(f"{where} {problem}")
        except DAMAGE as error:
            what = " ".join(str(error).split())[:80]
            self.problems.add(f"{where} is damaged ({what})")


def layer_name(node):
    """A short name: that of the weights, ``body.conv1.weight``, or the node's own."""
    parameters = node.inputs[1] if len(node.inputs) > 1 else ""
    found = re.fullmatch(r"([\w.]+)\.weight(_quantized\w*)?", parameters)
    return short_name(found[1] if found else node.name or node.outputs[0])


def short_name(name):
    """A layer's name out of a node's, such as ``/body/conv1/Conv``."""
    pieces = [p for p in re.split(r"[/:;]", name) if p]
    if len(pieces) > 1 and re.fullmatch(r"[A-Z][A-Za-z0-9]*(_\d+)?", pieces[-1]):
        pieces = pieces[:-1]
    return re.sub(r"[^\w.-]", "_", ".".join(pieces[-2:]))[:48] or "layer"
