"""An ONNX file as plain Python objects, sizes checked before they are used."""

import dataclasses
import math
import os

import numpy as np

from .. import extras

MAX_FILE = 1 << 28
MAX_NODES = 2048
MAX_ELEMENTS = 1 << 24
MAX_FOLDED = 1 << 16
# What a shape computation in an export consists of; evaluated when all inputs are known.
FOLDABLE = (
    "Add And Cast Ceil Concat ConstantOfShape Div Equal Expand Floor Gather Greater Identity Less "
    "Max Min Mod Mul Neg Not Or Range ReduceProd Reshape Size Slice Sqrt Squeeze Sub Tile "
    "Transpose Unsqueeze Where"
).split()


@dataclasses.dataclass
class Node:
    """An operator; an input that is left out is an empty string."""

    kind: str
    name: str
    inputs: list
    outputs: list
    attributes: dict


@dataclasses.dataclass
class Graph:
    """Nodes in order; ``inputs`` maps names to shapes, None where a dimension is free."""

    nodes: list
    constants: dict
    inputs: dict
    outputs: list
    opset: int


def package():
    """The module ``onnx``, or ImportError that says how to get it."""
    try:
        import onnx
    except ImportError:
        raise extras.missing("reading ONNX files needs the package onnx", "models") from None
    return onnx


def read(path):
    """The Graph of a file; ValueError or OSError in one sentence otherwise."""
    if os.path.getsize(path) > MAX_FILE:
        raise ValueError(
            f"{path} is larger than {MAX_FILE >> 20} MB: no board can hold such a model"
        )
    with open(path, "rb") as file:
        return parse(file.read(), path, os.path.dirname(path) or ".")


def parse(raw, path, folder=None):
    """As read(), from bytes; ``path`` only names the file in errors.

    ``folder``: where files of weights lie that the model names, as torch.export writes them.
    """
    onnx = package()
    try:
        model = onnx.load_model_from_string(raw)
    except Exception:
        raise ValueError(f"{path} is no ONNX file or is damaged: export it again") from None
    if folder is not None:
        _load_beside(onnx, model, path, folder)
    graph = model.graph
    if not graph.node:
        raise ValueError(f"{path} is no ONNX file with a network in it: export it again")
    if len(graph.node) > MAX_NODES:
        raise ValueError(f"{path} has {len(graph.node)} operators: use a network for small boards")
    try:
        constants = {t.name: _array(onnx, t) for t in graph.initializer}
        nodes = [_node(onnx, n) for n in graph.node]
        inputs = {v.name: _shape(v) for v in graph.input if v.name not in constants}
    except (ValueError, TypeError, OverflowError, AttributeError, KeyError) as error:
        raise ValueError(
            f"{path} is damaged ({' '.join(str(error).split())[:120]}): export it again"
        ) from None
    opset = max((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=0)
    return Graph(nodes, constants, inputs, [v.name for v in graph.output], opset)


def _load_beside(onnx, model, path, folder):
    """Take the weights of a model from the files beside it."""
    names = set()
    for tensor in model.graph.initializer:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            names.update(e.value for e in tensor.external_data if e.key == "location")
    if not names:
        return
    for name in sorted(names):
        if os.path.basename(name) != name or not os.path.isfile(os.path.join(folder, name)):
            raise ValueError(
                f"{path} keeps its weights in {name!r}, which is not beside it: copy both files, "
                f"or export with external_data=False"
            )
        if os.path.getsize(os.path.join(folder, name)) > MAX_FILE:
            raise ValueError(f"{name} is larger than {MAX_FILE >> 20} MB: no board can hold it")
    try:
        onnx.load_external_data_for_model(model, folder)
    except Exception:
        raise ValueError(f"{path} and its weights do not fit: export it again") from None


def evaluate(node, constants):
    """The value of a node that depends on constants alone, or None if it is not simple enough.

    Exports compute the shape of a Flatten from the batch, which is 1 here.
    """
    inputs = {name: constants[name] for name in node.inputs if name in constants}
    if (
        node.kind not in FOLDABLE
        or not inputs
        or len(inputs) < len(set(filter(None, node.inputs)))
    ):
        return None
    values = [constants[name] for name in node.inputs if name]
    sizes = [value.size for value in values]
    sizes.append(_grown(node.kind, values))
    if sum(sizes) > MAX_FOLDED:
        return None
    onnx = package()
    from onnx.reference import ReferenceEvaluator

    attributes = {
        k: onnx.numpy_helper.from_array(v) if isinstance(v, np.ndarray) else v
        for k, v in node.attributes.items()
    }
    made = onnx.helper.make_node(node.kind, node.inputs, node.outputs, **attributes)
    return np.asarray(ReferenceEvaluator(made).run(None, inputs)[0])


def _grown(kind, values):
    """How many values an operator makes of few, at least."""
    numbers = [float(n) for n in np.asarray(values[-1], np.float64).reshape(-1)[:8]]
    if kind in ("ConstantOfShape", "Expand"):
        return math.prod(max(n, 1) for n in numbers)
    if kind == "Tile":
        return values[0].size * math.prod(max(n, 1) for n in numbers)
    if kind == "Range":
        start, limit, step = (float(np.asarray(v).reshape(-1)[0]) for v in values)
        return abs(limit - start) / abs(step) if step else math.inf
    return 0


def _array(onnx, tensor):
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        raise ValueError(f"{tensor.name!r} lies in another file, give the path of both")
    if any(n < 0 for n in tensor.dims) or math.prod(tensor.dims) > MAX_ELEMENTS:
        raise ValueError(f"{tensor.name!r} has shape {list(tensor.dims)}")
    array = onnx.numpy_helper.to_array(tensor)
    if array.dtype.kind == "c":
        raise ValueError(f"{tensor.name!r} has complex values")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{tensor.name!r} has values that are no numbers")
    return array


def _node(onnx, node):
    attributes = {}
    for a in node.attribute:
        value = onnx.helper.get_attribute_value(a)
        if a.type == onnx.AttributeProto.TENSOR:
            value = _array(onnx, value)
        elif a.type == onnx.AttributeProto.STRING:
            value = value.decode("utf-8", "replace")
        attributes[_word(a.name)] = value
    kind, domain = _word(node.op_type), _word(node.domain)
    kind = kind if domain in ("", "ai.onnx") else f"{domain}.{kind}"
    ends = ([_word(name) for name in names] for names in (node.input, node.output))
    return Node(kind, _word(node.name), *ends, attributes)


def _word(text):
    """A name; what is no UTF-8 comes as bytes."""
    return text if isinstance(text, str) else text.decode("utf-8", "replace")


def _shape(value):
    dims = value.type.tensor_type.shape.dim
    return tuple(
        d.dim_value if d.HasField("dim_value") and d.dim_value > 0 else None for d in dims
    )
