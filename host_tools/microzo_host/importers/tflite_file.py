"""A .tflite file as plain Python objects, with every size and index checked before use.

The ``tflite`` package reads fields wherever the file's offsets lead, so counts
are limited, vectors must lie in the file, and any error of it means damage.
"""

import dataclasses
import itertools
import math
import struct

import numpy as np

from .problems import Unsupported

MAX_FILE = 1 << 26
MAX_TENSORS, MAX_NODES, MAX_RANK = 4096, 1024, 8
MAX_ELEMENTS = 1 << 24
MAX_NAME, MAX_SHOWN, MAX_SCALES = 4096, 80, 1 << 16
TENSOR_NAME, CUSTOM_CODE = 10, 6  # places of the two strings in their tables
DAMAGE = (struct.error, TypeError, ValueError, IndexError, OverflowError, AttributeError)
ITEM_SIZES = {"INT8": 1, "UINT8": 1, "INT16": 2, "INT32": 4, "INT64": 8, "FLOAT32": 4}
DTYPES = {"INT8": "i1", "UINT8": "u1", "INT32": "<i4", "INT64": "<i8", "FLOAT32": "<f4"}
REDUCTIONS = ("MEAN", "SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN")
# Options that are read, by the schema's field names; a missing table means the defaults.
WINDOW = ("Padding", "StrideH", "StrideW", "FusedActivationFunction")
OPTIONS = {
    "CONV_2D": ("Conv2DOptions", (*WINDOW, "DilationHFactor", "DilationWFactor")),
    "DEPTHWISE_CONV_2D": (
        "DepthwiseConv2DOptions",
        (*WINDOW, "DilationHFactor", "DilationWFactor"),
    ),
    "AVERAGE_POOL_2D": ("Pool2DOptions", (*WINDOW, "FilterHeight", "FilterWidth")),
    "MAX_POOL_2D": ("Pool2DOptions", (*WINDOW, "FilterHeight", "FilterWidth")),
    "FULLY_CONNECTED": (
        "FullyConnectedOptions",
        ("FusedActivationFunction", "WeightsFormat", "KeepNumDims"),
    ),
    "ADD": ("AddOptions", ("FusedActivationFunction",)),
    "SUB": ("SubOptions", ("FusedActivationFunction",)),
    "MUL": ("MulOptions", ("FusedActivationFunction",)),
    "CONCATENATION": ("ConcatenationOptions", ("Axis", "FusedActivationFunction")),
    "LEAKY_RELU": ("LeakyReluOptions", ("Alpha",)),
    "SOFTMAX": ("SoftmaxOptions", ("Beta",)),
    "GELU": ("GeluOptions", ("Approximate",)),
    "BATCH_MATMUL": ("BatchMatMulOptions", ("AdjX", "AdjY")),
    "PACK": ("PackOptions", ("Axis",)),
    "GATHER": ("GatherOptions", ("Axis", "BatchDims")),
    "STRIDED_SLICE": (
        "StridedSliceOptions",
        ("BeginMask", "EndMask", "EllipsisMask", "NewAxisMask", "ShrinkAxisMask"),
    ),
    **dict.fromkeys(REDUCTIONS, ("ReducerOptions", ("KeepDims",))),
}


# Custom operators that tell what a whole file is.
COMPILED = {
    "ethos-u": "was compiled by Vela for an Ethos-U (give the .tflite that Vela was given)",
    "edgetpu-custom-op": "was compiled for an Edge TPU (give the .tflite from before that)",
    "TFLite_Detection_PostProcess": "is a detector whose end makes boxes "
    "(microzo trains classifiers: import the part before the boxes, or train a classifier)",
}


@dataclasses.dataclass
class Tensor:
    """``scales`` (float32) and ``zero_points`` (int64) if quantized, ``data`` if constant.

    ``name`` is short enough for a sentence, ``path`` is all that the file says.
    ``open``: a dimension is known only when the network runs; ``shape`` has 1 there.
    """

    name: str
    dtype: str
    shape: tuple
    scales: np.ndarray = None
    zero_points: np.ndarray = None
    axis: int = 0
    data: memoryview = None
    path: str = ""
    open: bool = False

    @property
    def size(self):
        """Number of elements."""
        return math.prod(self.shape)

    def array(self):
        """The constant's values."""
        return np.frombuffer(self.data, DTYPES[self.dtype]).reshape(self.shape)


@dataclasses.dataclass
class Node:
    """An operator; inputs are tensor numbers, -1 for one that is left out."""

    kind: str
    inputs: tuple
    outputs: tuple
    options: dict


@dataclasses.dataclass
class Graph:
    """Nodes in order of execution; ``states``: tensors that outlive a run (of LSTM, SVDF)."""

    tensors: list
    nodes: list
    inputs: tuple
    outputs: tuple
    states: frozenset = frozenset()


def package():
    """The module ``tflite``, or ImportError that says how to get it."""
    try:
        import tflite
    except ImportError:
        raise ImportError(
            "reading .tflite files needs the package tflite: run `pip install tflite`"
        ) from None
    return tflite


def read(path):
    """The Graph of a file; ValueError or OSError in one sentence otherwise."""
    with open(path, "rb") as file:
        raw = file.read(MAX_FILE + 1)
    return parse(raw, path)


def parse(raw, path):
    """As read(), from bytes; ``path`` only names the file in errors."""
    if len(raw) > MAX_FILE:
        raise ValueError(
            f"{path} is larger than {MAX_FILE >> 20} MB: no board can hold such a model"
        )
    if len(raw) < 8 or raw[4:8] != b"TFL3":
        raise ValueError(f"{path} is no TFLite file: give one that the TFLite converter wrote")
    try:
        graph = _Reader(raw).graph()
        _check_order(graph)
    except Unsupported as problem:
        raise ValueError(f"{path} {problem}") from None
    except DAMAGE as error:
        raise ValueError(
            f"{path} is damaged ({' '.join(str(error).split())[:120]}): copy or convert it again"
        ) from None
    return graph


class _Reader:
    def __init__(self, raw):
        self.t = package()
        self.raw = bytes(raw)
        self.model = self.t.Model.GetRootAs(self.raw)
        self.states = set()  # tensors that keep values from one run to the next
        self.kinds = _names(self.t.BuiltinOperator)
        self.types = _names(self.t.TensorType)

    def graph(self):
        _need(self.model.Version() == 3, "its schema version is not 3")
        codes = self._codes()
        graphs = self.model.SubgraphsLength()
        if graphs > 1:
            raise Unsupported(
                f"holds {graphs} graphs, which loops, conditions, LSTM layers and several "
                f"signatures are made of (use convolutions over time and export one signature)"
            )
        _need(graphs == 1, "it has no graph")
        main = self.model.Subgraphs(0)
        tensors = [
            self._tensor(main.Tensors(i))
            for i in range(_count(main.TensorsLength(), MAX_TENSORS, "tensors"))
        ]
        nodes = [
            self._node(main.Operators(i), codes)
            for i in range(_count(main.OperatorsLength(), MAX_NODES, "operators"))
        ]
        ends = [_numbers(v) for v in (main.InputsAsNumpy(), main.OutputsAsNumpy())]
        self.states.update(i for i in range(len(tensors)) if main.Tensors(i).IsVariable())
        return Graph(tensors, nodes, *ends, frozenset(self.states))

    def _codes(self):
        codes = []
        for i in range(_count(self.model.OperatorCodesLength(), MAX_NODES, "operator codes")):
            code = self.model.OperatorCodes(i)
            number = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
            kind = self.kinds.get(number, f"operator {number}")
            if kind == "CUSTOM":
                name = _text(code, CUSTOM_CODE)[:MAX_SHOWN]
                if name in COMPILED:
                    raise Unsupported(COMPILED[name])
                kind = f"custom operator {name!r}"
            codes.append(kind)
        return codes

    def _tensor(self, t):
        shape = _numbers(t.ShapeAsNumpy(), MAX_RANK)
        path = _text(t, TENSOR_NAME)
        name = path.split(";")[0][:MAX_SHOWN]
        tensor = Tensor(name, self.types.get(t.Type(), f"type {t.Type()}"), shape)
        tensor.path = path
        tensor.open = -1 in _numbers(t.ShapeSignatureAsNumpy(), MAX_RANK)
        _need(all(n >= 0 for n in shape), f"{tensor.name!r} has the shape {shape}")
        _need(tensor.size < MAX_ELEMENTS, f"{tensor.name!r} has {tensor.size} elements")
        quantization = t.Quantization()
        if quantization is not None and quantization.ScaleLength():
            self._scales(tensor, quantization)
        tensor.data = self._data(t.Buffer(), tensor)
        return tensor

    def _scales(self, tensor, quantization):
        lengths = quantization.ScaleLength(), quantization.ZeroPointLength()
        _need(max(lengths) <= MAX_SCALES, f"{tensor.name!r} has too many scales")
        tensor.scales = np.array(quantization.ScaleAsNumpy(), np.float32)
        zero_points = np.zeros(lengths[0], np.int64)
        if lengths[1]:
            zero_points[:] = quantization.ZeroPointAsNumpy()
        tensor.zero_points = zero_points
        tensor.axis = quantization.QuantizedDimension()

    def _data(self, number, tensor):
        """The bytes of a constant, or None; number 0 is the empty buffer by convention."""
        _need(0 <= number < self.model.BuffersLength(), f"{tensor.name!r} has no buffer")
        buffer = self.model.Buffers(number)
        _need(
            not buffer.Offset() and not buffer.Size(), "it keeps its weights outside of the tables"
        )
        if not buffer.DataLength():
            return None
        data = memoryview(buffer.DataAsNumpy()).cast("B")
        item = ITEM_SIZES.get(tensor.dtype)
        if item is None:
            return None
        _need(len(data) == item * tensor.size, f"{tensor.name!r} does not fill its buffer")
        return data

    def _node(self, node, codes):
        index = node.OpcodeIndex()
        _need(0 <= index < len(codes), "an operator has no code")
        kind = codes[index]
        inputs, outputs = _numbers(node.InputsAsNumpy()), _numbers(node.OutputsAsNumpy())
        return Node(kind, inputs, outputs, self._options(node, kind))

    def _options(self, node, kind):
        if kind not in OPTIONS:
            return {}
        table, fields = OPTIONS[kind]
        reader = getattr(self.t, table)()
        source = node.BuiltinOptions()
        if source is None:
            return {}
        _need(
            node.BuiltinOptionsType() == getattr(self.t.BuiltinOptions, table),
            f"an operator {kind} has another one's options",
        )
        reader.Init(source.Bytes, source.Pos)
        return {field: getattr(reader, field)() for field in fields}


def _check_order(graph):
    """Every tensor is a constant, an input, or written once before it is read."""
    count = len(graph.tensors)
    known = {i for i, t in enumerate(graph.tensors) if t.data is not None}
    for i in itertools.chain(graph.inputs, graph.outputs):
        _need(0 <= i < count, "an end of the graph is no tensor")
        _fill(graph.tensors[i])
    known.update(graph.inputs)
    known.update(graph.states)
    for node in graph.nodes:
        for i in node.inputs:
            _need(i == -1 or i in known, f"an operator {node.kind} reads what nothing wrote")
            if i != -1:
                _fill(graph.tensors[i])
        _need(node.outputs, f"an operator {node.kind} writes nothing")
        for i in node.outputs:
            _need(
                0 <= i < count and i not in known, f"an operator {node.kind} writes a used tensor"
            )
            _fill(graph.tensors[i])
            known.add(i)
    _need(all(i in known for i in graph.outputs), "nothing writes an output")


def _fill(tensor):
    """Error for a tensor without values; LSTM operators have some beside their inputs."""
    _need(tensor.size, f"{tensor.name!r} has an empty shape {tensor.shape}")


def _need(condition, what):
    if not condition:
        raise ValueError(what)


def _count(n, most, what):
    _need(1 <= n <= most, f"it has {n} {what}")
    return n


def _numbers(vector, most=MAX_NODES):
    """A tuple of Python ints; the package gives 0 for a vector that is left out."""
    if isinstance(vector, int):
        return ()
    _need(len(vector) <= most, "a list of numbers is too long")
    return tuple(int(n) for n in vector)


def _text(table, slot):
    """A string field by its place in the schema; the package alone would copy any length."""
    offset = table._tab.Offset(slot)
    if not offset:
        return ""
    _need(table._tab.VectorLen(offset) <= MAX_NAME, "a name is too long")
    return table._tab.String(offset + table._tab.Pos).decode("utf-8", "replace")


def _names(enumeration):
    return {v: k for k, v in vars(enumeration).items() if isinstance(v, int)}
