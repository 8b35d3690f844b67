"""Turns the nodes of a TFLite graph into operator records, one by one.

A *view* says how a TFLite tensor reads our activation tensors: reshapes make
no operator, only another view. Tensors are (h, w, c); a batch is refused.
"""

import dataclasses
import math

import numpy as np

from ..model import file as modelfile
from .problems import Problems, Unsupported, label

GOOD_SCALES = 1e-20, 1e20


@dataclasses.dataclass
class View:
    """One of our tensors as a TFLite tensor reads it.

    ``pads`` are those of PAD nodes that the reader takes over. ``order``: value
    number i of the TFLite tensor is ours number order[i], None if all are in place.
    """

    tensor: int
    zero_point: int
    pads: tuple = (0, 0, 0, 0)
    order: np.ndarray = None


class Lowering:
    """The operators made so far, and the views of the tensors that they write."""

    def __init__(self, graph, core, path):
        self.graph, self.core = graph, core
        self.ops, self.scales, self.sources = [], [], []
        self.views, self.writers = {}, {}
        self.problems = Problems(path)
        self.readers = {}
        for node in core.nodes:
            for i in node.inputs:
                self.readers.setdefault(i, []).append(node)
        self.shape_in = hwc(self.tensor(core.source))
        self._write(core.source, self.quantized(core.source))

    def run(self, handlers, cures):
        """Lower every node; problems of all of them are collected, then raised.

        ``handlers``: by kind, (function, how many inputs it needs at least).
        """
        for node in self.core.nodes:
            where = label(node.kind, self.tensor(node.outputs[0]).name)
            handler, least = handlers.get(node.kind, (None, 0))
            problem = None
            if handler is None:
                problem = f"({cures(node.kind)})"
            elif len(node.inputs) < least or -1 in node.inputs[:least]:
                problem = "lacks an input (convert it again)"
            elif all(i in self.views or i == -1 or self.is_constant(i) for i in node.inputs):
                try:
                    handler(self, node)
                except Unsupported as error:
                    problem = error
            if problem is not None:
                self.problems.add(f"{where} {problem}")
                self._stand_in(node)
        self.problems.raise_if_any()

    def _stand_in(self, node):
        """Views of what a failed node would write, so that problems after it are found too."""
        for number in node.outputs:
            self.views[number] = View(0, 0)

    # reading the graph

    def tensor(self, number):
        return self.graph.tensors[number]

    def is_constant(self, number):
        return number >= 0 and self.tensor(number).data is not None

    def quantized(self, number):
        """A tensor of int8 values with one scale and a zero point, checked."""
        t = self.tensor(number)
        if t.dtype != "INT8":
            raise Unsupported(
                f"uses {t.name!r} of type {t.dtype} (convert with full integer int8)"
            )
        if t.scales is None or len(t.scales) != 1:
            raise Unsupported(f"uses {t.name!r} without one scale for it (quantize it per tensor)")
        check_scales(t)
        if not -128 <= t.zero_points[0] <= 127:
            raise Unsupported(
                f"uses {t.name!r} with zero point {t.zero_points[0]} (convert again)"
            )
        return t

    def constant(self, number, dtype, what):
        """The values of a constant input."""
        if not self.is_constant(number) or self.tensor(number).dtype != dtype:
            raise Unsupported(f"needs constant {dtype} {what} (fold or freeze them in the source)")
        return self.tensor(number).array()

    def zero_point(self, number):
        return int(self.quantized(number).zero_points[0])

    def only_reader(self, number):
        """Whether one node alone depends on a tensor."""
        return len(self.readers.get(number, ())) == 1 and number != self.core.target

    # making operators

    def plain(self, number):
        """The View of an activation input, which must need nothing but reading."""
        if number not in self.views:
            raise Unsupported("needs an activation, not a constant, as its first input (fold it)")
        view = self.views[number]
        if view.order is not None:
            raise Unsupported(
                f"reads the transposed {self.tensor(number).name!r} (export channels last)"
            )
        return view

    def alias(self, node, **changes):
        """The output is the first input, read in another way."""
        view = self.views[node.inputs[0]]
        out = node.outputs[0]
        if self.tensor(out).dtype == "INT8" and self.zero_point(out) != view.zero_point:
            raise Unsupported("changes the zero point (convert it again)")
        self.views[out] = dataclasses.replace(view, **changes)

    def emit(self, node, kind, shape, out_shape, **fields):
        """Append an operator that reads the first input as ``shape`` (h, w, c)."""
        return self.emit_from(node.inputs[0], node.outputs[0], kind, shape, out_shape, **fields)

    def emit_from(self, source, out, kind, shape, out_shape, final=True, **fields):
        """Append an operator between two tensors; not ``final``: it makes a part of ``out``."""
        if max(*shape, *out_shape) > 65535:
            raise Unsupported(
                f"has a dimension beyond 65535: {shape} to {out_shape} (make it smaller)"
            )
        result, view = self.quantized(out), self.views[source]
        op = modelfile.Op("", kind, tid=len(self.ops), in1=view.tensor, **fields)
        op.in_h, op.in_w, op.in_c = shape
        op.out_h, op.out_w, op.out_c = out_shape
        op.in_zp, op.out_zp = view.zero_point, int(result.zero_points[0])
        self.ops.append(op)
        op.out = self._write(out, result)
        self.writers[out] = op
        self.sources.append(out if final else None)
        return op

    def rename(self, node, op):
        """The output is the first input, whose writer ``op`` now does this node's work too."""
        out = node.outputs[0]
        self.alias(node)
        self.scales[op.out] = float(self.tensor(out).scales[0])
        self.sources[op.tid] = out
        self.writers[out] = op

    def _write(self, number, tensor):
        made = len(self.scales)
        self.scales.append(float(tensor.scales[0]))
        self.views[number] = View(made, int(tensor.zero_points[0]))
        return made


def hwc(tensor):
    """(h, w, c) of a TFLite tensor: rank 4 with one image, or 1 to 3 dimensions, batch first."""
    shape = tensor.shape
    while len(shape) > 4 and shape[0] == 1:
        shape = shape[1:]
    if len(shape) > 4 or len(shape) > 3 and shape[0] != 1:
        raise Unsupported(
            f"uses {tensor.name!r} of shape {tensor.shape} (use a batch of 1, rank 4)"
        )
    if len(shape) == 4:
        return shape[1:]
    if len(shape) == 3:
        return (1, *shape[1:]) if shape[0] == 1 else shape
    return 1, math.prod(shape[:-1]), shape[-1] if shape else 1


def check_scales(tensor):
    """Unsupported unless all scales of a tensor are usable."""
    low, high = GOOD_SCALES
    if not np.all((tensor.scales > low) & (tensor.scales < high)):
        raise Unsupported(f"uses {tensor.name!r} with a bad scale (convert it again)")
