"""Where the int8 core of a TFLite graph begins and ends.

Before it: QUANTIZE of a float or uint8 input, folded into the input table.
After it: softmax and conversions, dropped, since the loss takes logits.
"""

import dataclasses
import math

import numpy as np

from . import tables
from .problems import Unsupported, label

CLASSIFIERS = ("SOFTMAX", "LOG_SOFTMAX", "LOGISTIC")
WIDE = (
    "{!r} has 16-bit activations (microzo runs int8: convert with TFLITE_BUILTINS_INT8, not "
    "with EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8)"
)
TAIL = (*CLASSIFIERS, "DEQUANTIZE", "QUANTIZE", "RESHAPE", "SQUEEZE")


@dataclasses.dataclass
class Core:
    """Tensor numbers of the core's input and output, its nodes, and what was around it.

    ``order``: value number i of our sample is number order[i] of the file's, if they differ.
    """

    source: int
    target: int
    nodes: list
    table: np.ndarray
    order: np.ndarray = None
    beta: float = 1.0
    dropped: list = dataclasses.field(default_factory=list)

    @property
    def sigmoid(self):
        """Whether the classifier at the end is a sigmoid."""
        return "LOGISTIC" in self.dropped

    @property
    def dropped_classifier(self):
        """Whether there was a classifier at the end."""
        return any(kind in CLASSIFIERS for kind in self.dropped)


def find(graph):
    """The Core of a graph; Unsupported if it has none."""
    for what, ends in (("inputs", graph.inputs), ("outputs", graph.outputs)):
        if len(ends) != 1:
            names = ", ".join(repr(graph.tensors[i].name) for i in ends) or "none"
            raise Unsupported(f"its {what} are {names} (export it with exactly one)")
    _one_sample(graph)
    source, table = _source(graph)
    core = Core(source, graph.outputs[0], [], table)
    _move_in(graph, core)
    writers = {node.outputs[0]: node for node in graph.nodes}
    while core.target in writers and writers[core.target].kind in TAIL:
        node = writers[core.target]
        if core.target == core.source or node.inputs[0] == -1:
            break
        core.beta *= node.options.get("Beta", 1.0)
        if node.kind not in ("RESHAPE", "SQUEEZE"):
            core.dropped.append(node.kind)
        core.target = node.inputs[0]
    core.nodes = _needed(graph, core)
    return core


def _one_sample(graph):
    """Unsupported if the network takes several samples at a time, or gives several answers."""
    first, last = (graph.tensors[i[0]].shape for i in (graph.inputs, graph.outputs))
    if len(first) > 1 and last and first[0] > 1 and first[0] == last[0]:
        raise Unsupported(
            f"it takes {first[0]} samples of shape {first[1:]} at a time (convert it for a batch "
            f"of 1: Keras `Input(shape, batch_size=1)`, PyTorch a sample of one)"
        )
    if math.prod(last[:-1]) > 1 and math.prod(last) != math.prod(first):
        raise Unsupported(
            f"it gives {last[-1]} values at each of {math.prod(last[:-1])} places, {last} (a "
            f"detector such as FOMO, or a segmentation, not {math.prod(last)} classes: microzo "
            f"trains one class a sample, so end it with GlobalAveragePooling2D and Dense)"
        )


def _source(graph):
    """(tensor number, input table); a QUANTIZE at the input is folded into the table."""
    number = graph.inputs[0]
    entry = graph.tensors[number]
    table = (np.arange(256) - 128).astype(np.int8)
    if entry.dtype == "INT8":
        return number, table
    if entry.dtype == "INT16":
        raise Unsupported(WIDE.format(entry.name))
    readers = [node for node in graph.nodes if number in node.inputs]
    if len(readers) != 1 or readers[0].kind != "QUANTIZE":
        raise Unsupported(
            f"its input {entry.name!r} is {entry.dtype} and no QUANTIZE makes it int8 "
            f"(convert it with full integer quantization)"
        )
    made = graph.tensors[readers[0].outputs[0]]
    if made.dtype == "INT16":
        raise Unsupported(WIDE.format(made.name))
    if made.dtype != "INT8":
        raise Unsupported(f"{label('QUANTIZE', made.name)} makes {made.dtype} (quantize to int8)")
    if entry.dtype == "UINT8":
        table = tables.requantize(entry, made, np.arange(256))
    elif entry.dtype != "FLOAT32":
        raise Unsupported(
            f"its input {entry.name!r} is {entry.dtype} (use int8, uint8 or float32)"
        )
    return readers[0].outputs[0], table


def _move_in(graph, core):
    """Let the core begin after reshapes and a TRANSPOSE of its input, as samples are given."""
    order = None
    while True:
        readers = [node for node in graph.nodes if core.source in node.inputs]
        if len(readers) != 1 or len(readers[0].outputs) != 1:
            break
        node, entry = readers[0], graph.tensors[core.source]
        made = graph.tensors[node.outputs[0]]
        if node.kind in ("RESHAPE", "EXPAND_DIMS") and len(made.shape) > len(entry.shape):
            if made.size != entry.size:
                break
        elif node.kind == "TRANSPOSE":
            moved = _transposed(graph, node, entry.shape, order)
            if moved is None:
                break
            order = moved
        else:
            break
        core.source = node.outputs[0]
    if order is not None and not np.array_equal(order, np.arange(len(order))):
        core.order = order


def _transposed(graph, node, shape, order):
    """The order after a TRANSPOSE, or None if its axes are not known."""
    axes = graph.tensors[node.inputs[1]] if len(node.inputs) > 1 else None
    if axes is None or axes.data is None or axes.dtype != "INT32":
        return None
    axes = axes.array().reshape(-1)
    if sorted(axes.tolist()) != list(range(len(shape))):
        return None
    order = np.arange(math.prod(shape)) if order is None else order
    return order.reshape(shape).transpose(axes).reshape(-1)


def _needed(graph, core):
    """The nodes between source and target that the target depends on, in order."""
    wanted, nodes = {core.target}, []
    for node in reversed(graph.nodes):
        if core.source in node.outputs:
            continue
        if wanted.intersection(node.outputs):
            nodes.append(node)
            wanted.update(node.inputs)
    return nodes[::-1]
