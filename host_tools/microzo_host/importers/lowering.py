"""Turns the nodes of a TFLite graph into operator records, one by one.

A *view* says how a TFLite tensor reads our activation tensors: reshapes make
no operator, only another view. Tensors are (h, w, c); a batch is refused.
"""

import dataclasses
import math

import numpy as np

from microzo.net import words as L

from ..model import file as modelfile
from . import orders
from .problems import Problems, Unsupported, label

RESHAPES = ("RESHAPE", "SQUEEZE", "EXPAND_DIMS")
GOOD_SCALES = 1e-20, 1e20


@dataclasses.dataclass
class View:
    """One of our tensors as a TFLite tensor reads it.

    ``pads`` are those of PAD nodes that the reader takes over. ``order``: value
    number i of the TFLite tensor is ours number order[i], None if all are in place.
    ``table``: what the TFLite tensor holds for each of our 256 values, if that is not
    itself; a LUT makes it when something else than a function of one value reads it.
    """

    tensor: int
    zero_point: int
    pads: tuple = (0, 0, 0, 0)
    order: np.ndarray = None
    table: np.ndarray = None


class _Views(dict):
    """Views of activations by tensor; whoever reads a constant in their place is refused."""

    def __missing__(self, number):
        raise Unsupported("needs an activation, not a constant, as its first input (fold it)")


class Lowering:
    """The operators made so far, and the views of the tensors that they write."""

    def __init__(self, graph, core, path):
        self.graph, self.core = graph, core
        self.ops, self.scales, self.shapes, self.sources = [], [], [], []
        self.views, self.writers = _Views(), {}
        self.changed = {}  # by operator: what dead.settle() did to its accumulators
        self.inexact = {}  # by operator: accumulators whose output is off by one
        self.unknown = set()  # what refused nodes would write
        self.problems = Problems(path)
        self.readers = {}
        for node in core.nodes:
            for i in node.inputs:
                self.readers.setdefault(i, []).append(node)
        self.shape_in = hwc(self.tensor(core.source))
        self._write(core.source, self.quantized(core.source), self.shape_in)

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
            elif not self.unknown.isdisjoint(node.inputs):
                pass  # whether it can run depends on what was refused before it
            elif len(node.inputs) < least or -1 in node.inputs[:least]:
                problem = "lacks an input (convert it again)"
            elif all(i in self.views or i == -1 or self.is_constant(i) for i in node.inputs):
                try:
                    handler(self, node)
                    continue
                except Unsupported as error:
                    problem = error
            if problem is not None:
                self.problems.add(f"{where} {problem}")
            self.unknown.update(node.outputs)
        self.problems.raise_if_any()

    # reading the graph

    def tensor(self, number):
        return self.graph.tensors[number]

    def is_constant(self, number):
        return number >= 0 and self.tensor(number).data is not None

    def quantized(self, number):
        """A tensor of int8 values with one scale and a zero point, checked."""
        t = self.tensor(number)
        if t.dtype == "INT16":
            raise Unsupported(
                f"uses {t.name!r} of 16 bits (convert to 8-bit activations, TFLITE_BUILTINS_INT8)"
            )
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

    def consumers(self, number):
        """[(node, tensor it reads)] behind reshapes that keep rows, columns and channels.

        None stands for the end of the network.
        """
        result = [(None, number)] if number == self.core.target else []
        shape = hwc(self.tensor(number))
        for node in self.readers.get(number, ()):
            out = node.outputs[0]
            if node.kind in RESHAPES and hwc(self.tensor(out)) == shape:
                result += self.consumers(out)
            else:
                result.append((node, number))
        return result

    def only_reader(self, number):
        """Whether one node alone depends on a tensor."""
        return len(self.readers.get(number, ())) == 1 and number != self.core.target

    def axes(self, number):
        """(h, w, c) of what an activation reads, and which of its axes each axis of it is.

        None stands for an axis of one value.
        """
        view, shape = self.view(number), self.tensor(number).shape
        if view.order is None:
            places = (*(None,) * max(len(shape) - 3, 0), 0, 1, 2)
            return hwc(self.tensor(number)), list(places[len(places) - len(shape) :])
        ours = self.shapes[view.tensor]
        places = orders.axes(view.order, shape, ours)
        if places is None:
            raise Unsupported(
                f"reads the transposed {self.tensor(number).name!r} (export channels last)"
            )
        return ours, places

    # making operators

    def view(self, number):
        """The View of an activation, whose values are those of one of our tensors."""
        view = self.views[number]
        if view.table is not None:
            self._materialize(number, view)
        return self.views[number]

    def _materialize(self, number, view):
        result = self.quantized(number)
        shape = self.shapes[view.tensor]
        op = self._append(L.LUT, view, shape, shape)
        op.weight, op.out_zp = view.table, int(result.zero_points[0])
        self._finish(op, number, result, shape, True)
        self.reorder(number, view.order)

    def plain(self, number):
        """As view(), for a reader that takes values in their places only."""
        view = self.view(number)
        if view.order is not None:
            raise Unsupported(
                f"reads the transposed {self.tensor(number).name!r} (export channels last)"
            )
        return view

    def alias(self, node, **changes):
        """The output is the first input, read in another way."""
        view = self.views[node.inputs[0]]
        out = node.outputs[0]
        same = view.zero_point if view.table is None else self.zero_point(node.inputs[0])
        if self.tensor(out).dtype == "INT8" and self.zero_point(out) != same:
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
        result, view = self.quantized(out), self.view(source)
        op = self._append(kind, view, shape, out_shape, **fields)
        op.out_zp = int(result.zero_points[0])
        return self._finish(op, out, result, out_shape, final)

    def _append(self, kind, view, shape, out_shape, **fields):
        op = modelfile.Op("", kind, tid=len(self.ops), in1=view.tensor, **fields)
        op.in_h, op.in_w, op.in_c = shape
        op.out_h, op.out_w, op.out_c = out_shape
        op.in_zp = view.zero_point
        self.ops.append(op)
        return op

    def _finish(self, op, out, result, out_shape, final):
        op.out = self._write(out, result, out_shape)
        self.writers[out] = op
        self.sources.append(out if final else None)
        return op

    def emit_part(self, source, out, kind, shape, out_shape):
        """Append an operator that makes a part of ``out``, quantized as that is, and no view.

        ``source``: a tensor's number, or the operator of another part.
        """
        if isinstance(source, modelfile.Op):
            view = View(source.out, source.out_zp)
        else:
            view = self.view(source)
        if max(*shape, *out_shape) > 65535:
            raise Unsupported(f"has a dimension beyond 65535: {shape} (make it smaller)")
        result = self.quantized(out)
        op = self._append(kind, view, shape, out_shape)
        op.out_zp, op.out = int(result.zero_points[0]), len(self.scales)
        self.scales.append(float(result.scales[0]))
        self.shapes.append(tuple(out_shape))
        self.sources.append(None)
        return op

    def join(self, node, parts, shape):
        """The output is ``parts`` (operators, each of ``shape``) joined along channels."""
        out, (h, w, c) = node.outputs[0], shape
        joined = parts[0]
        for i, part in enumerate(parts[1:], 1):
            joined = self.emit_part(joined, out, L.CONCAT, (h, w, i * c), (h, w, (i + 1) * c))
            joined.in2, joined.in2_zp = part.out, part.out_zp
        self.finish(joined, out)

    def reorder(self, number, order):
        """The activation that was just made is read in another order than ours."""
        self.views[number].order = order
        if order is not None:
            self.sources[-1] = None  # its values are not those of the file, place by place

    def finish(self, op, out):
        """The operator ``op``, made by emit_part(), writes ``out`` as it is."""
        self.sources[op.tid] = out
        self.writers[out] = op
        self.views[out] = View(op.out, op.out_zp)

    def shape(self, number):
        """(h, w, c) of an activation."""
        return hwc(self.tensor(number))

    def rename(self, node, op):
        """The output is the first input, whose writer ``op`` now does this node's work too."""
        out = node.outputs[0]
        self.alias(node)
        self.scales[op.out] = float(self.tensor(out).scales[0])
        self.sources[op.tid] = out
        self.writers[out] = op

    def _write(self, number, tensor, shape):
        made = len(self.scales)
        self.scales.append(float(tensor.scales[0]))
        self.shapes.append(tuple(shape))
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
