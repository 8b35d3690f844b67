"""Shapes that a TFLite file computes while it runs, computed here, for a batch of one.

Keras 3 and recent converters leave the batch open: Flatten and Reshape ask for the shape of
their input (SHAPE), take parts of it, put it together again and reshape by the result. With
one sample all of this is constant.
"""

import math

import numpy as np

from .problems import Unsupported, label

MAX_VALUES = 64  # of a tensor that is part of a shape
INTEGERS = ("INT32", "INT64")
SAME = (
    "RELU RELU6 RELU_N1_TO_1 LEAKY_RELU PRELU ELU GELU LOGISTIC TANH HARD_SWISH QUANTIZE "
    "DEQUANTIZE SOFTMAX LOG_SOFTMAX ABS NEG EXP LOG SQRT RSQRT SQUARE"
).split()
BROADCAST = "ADD SUB MUL DIV MAXIMUM MINIMUM".split()


def fold(graph):
    """Replace integer arithmetic on shapes by constants, in place; set shapes that were open."""
    nodes = []
    for node in graph.nodes:
        try:
            value = _value(graph, node)
            if value is None:
                _infer(graph, node)
        except (ValueError, IndexError, TypeError, ZeroDivisionError, OverflowError) as error:
            what = " ".join(str(error).split())[:80]
            where = label(node.kind, graph.tensors[node.outputs[0]].name)
            raise Unsupported(f"{where} cannot be computed ({what}; convert it again)") from None
        if value is None:
            nodes.append(node)
        else:
            _set(graph.tensors[node.outputs[0]], value)
    graph.nodes = nodes


def _set(tensor, value):
    dtype = "<i8" if tensor.dtype == "INT64" else "<i4"
    value = np.asarray(value, dtype)
    tensor.data = memoryview(np.ascontiguousarray(value).reshape(-1)).cast("B")
    tensor.shape = value.shape
    tensor.open = False


def _value(graph, node):
    """The constant that a node of shape arithmetic gives, else None."""
    out = graph.tensors[node.outputs[0]]
    if len(node.outputs) != 1 or out.dtype not in INTEGERS:
        return None
    if node.kind == "SHAPE":
        return np.array(graph.tensors[node.inputs[0]].shape, np.int64)
    function = ARITHMETIC.get(node.kind)
    sources = [graph.tensors[i] for i in node.inputs if i != -1]
    known = all(t.data is not None and t.dtype in INTEGERS for t in sources)
    if function is None or not sources or not known or sum(t.size for t in sources) > MAX_VALUES:
        return None
    value = np.asarray(function(node.options, *(t.array().astype(np.int64) for t in sources)))
    if value.size > MAX_VALUES or not value.size:
        raise ValueError(f"{value.size} values")
    return value


def strided(options, shape, begin, end, strides):
    """(slices, axes to drop) of a STRIDED_SLICE of a tensor of ``shape``."""
    if options.get("EllipsisMask") or options.get("NewAxisMask"):
        raise ValueError("it has an ellipsis or a new axis")
    slices, dropped = [], []
    for axis in range(len(begin)):
        first, last, step = int(begin[axis]), int(end[axis]), int(strides[axis])
        if options.get("ShrinkAxisMask", 0) >> axis & 1:
            first += shape[axis] if first < 0 else 0
            slices.append(slice(first, first + 1, 1))
            dropped.append(axis)
            continue
        first = None if options.get("BeginMask", 0) >> axis & 1 else first
        last = None if options.get("EndMask", 0) >> axis & 1 else last
        slices.append(slice(first, last, step))
    return tuple(slices), dropped


def _strided_slice(options, x, begin, end, strides):
    slices, dropped = strided(options, x.shape, begin, end, strides)
    return np.squeeze(x[slices], tuple(dropped))


def _gather(options, x, places):
    if options.get("BatchDims"):
        raise ValueError("it has batch dimensions")
    return np.take(x, places, options.get("Axis", 0))


def _reduce(function):
    def reduced(options, x, axes):
        axes = tuple(int(a) for a in axes.reshape(-1))
        return function(x, axis=axes, keepdims=bool(options.get("KeepDims")))

    return reduced


def _floor_div(options, a, b):
    if not b.all():
        raise ValueError("it divides by zero")
    return a // b


ARITHMETIC = {
    "STRIDED_SLICE": _strided_slice,
    "GATHER": _gather,
    "PACK": lambda options, *parts: np.stack(parts, options.get("Axis", 0)),
    "CONCATENATION": lambda options, *parts: np.concatenate(parts, options.get("Axis", 0)),
    "REDUCE_PROD": _reduce(np.prod),
    "REDUCE_MAX": _reduce(np.max),
    "REDUCE_MIN": _reduce(np.min),
    "SUM": _reduce(np.sum),
    "ADD": lambda options, a, b: a + b,
    "SUB": lambda options, a, b: a - b,
    "MUL": lambda options, a, b: a * b,
    "FLOOR_DIV": _floor_div,
    "DIV": _floor_div,
    "MAXIMUM": lambda options, a, b: np.maximum(a, b),
    "MINIMUM": lambda options, a, b: np.minimum(a, b),
    "CAST": lambda options, x: x,
    "RESHAPE": lambda options, x, shape: x.reshape(shape),
    "SQUEEZE": lambda options, x: np.squeeze(x),
    "EXPAND_DIMS": lambda options, x, axis: np.expand_dims(x, int(axis.reshape(-1)[0])),
    "SLICE": lambda options, x, begin, size: x[
        tuple(slice(int(b), None if n < 0 else int(b + n)) for b, n in zip(begin, size))
    ],
}


def _infer(graph, node):
    """The shape of an activation that the file leaves open, from the inputs of its node."""
    out = graph.tensors[node.outputs[0]]
    if not out.open or out.data is not None or len(node.outputs) != 1 or -1 in node.inputs[:1]:
        return
    x = graph.tensors[node.inputs[0]]
    shape = None
    if node.kind in SAME:
        shape = x.shape
    elif node.kind in BROADCAST:
        shape = np.broadcast_shapes(x.shape, graph.tensors[node.inputs[1]].shape)
    elif node.kind == "RESHAPE" and len(node.inputs) > 1:
        numbers = graph.tensors[node.inputs[1]]
        if numbers.data is None or numbers.dtype not in INTEGERS:
            raise ValueError("its shape depends on the input")
        shape = reshaped(x.size, [int(n) for n in numbers.array().reshape(-1)])
    elif node.kind == "FULLY_CONNECTED":
        channels, k = graph.tensors[node.inputs[1]].shape
        rows = x.shape[:-1] if node.options.get("KeepNumDims") else (x.size // k,)
        shape = (*rows, channels)
    if shape is not None:
        out.shape, out.open = tuple(int(n) for n in shape), False


def reshaped(size, shape):
    """``shape`` with its -1 replaced by what is left of ``size``."""
    if shape.count(-1) == 1:
        rest = math.prod(n for n in shape if n != -1)
        shape = [size // rest if n == -1 else n for n in shape]
    if math.prod(shape) != size or min(shape, default=1) < 1:
        raise ValueError(f"it turns {size} values into {tuple(shape)}")
    return tuple(shape)
