"""Functions of one value: they become tables of 256 values, and chains of them one table.

A tensor that depends on one activation value by value is kept as a table over the values
of that activation (``View.table``), int8, float32 or bool, whatever operators made it: so
x * tanh(log(1 + exp(x))) costs one LUT. Floats between DEQUANTIZE and QUANTIZE do as well.
"""

import numpy as np

from microzo.net import words as L

from . import scales, tables
from .lowering import View, check_scales
from .problems import Unsupported
from .weighted import ACTIVATIONS

CLAMPING = (L.CONV, L.DWCONV, L.DENSE, L.AVGPOOL, L.MAXPOOL, L.ADD, L.MUL, L.MEAN)
COMPARISONS = {
    "GREATER": np.greater, "GREATER_EQUAL": np.greater_equal, "LESS": np.less,
    "LESS_EQUAL": np.less_equal, "EQUAL": np.equal, "NOT_EQUAL": np.not_equal,
}  # fmt: skip
FLOAT_LIMITS = {"NONE": None, "RELU": (0, np.inf), "RELU_N1_TO_1": (-1, 1), "RELU6": (0, 6)}


def unary(lowering, node):
    """Any function of one value that the reference has for int8 or for floats."""
    x, y = (lowering.tensor(i) for i in (node.inputs[0], node.outputs[0]))
    view, values = operand(lowering, node.inputs[0])
    if y.dtype == "INT8":
        lowering.quantized(node.outputs[0])
    if x.dtype == "FLOAT32" and node.kind == "QUANTIZE" and y.dtype == "INT8":
        _keep(lowering, node, view, tables.quantized(values, y))
    elif x.dtype == y.dtype == "FLOAT32":
        if node.kind == "LEAKY_RELU":
            alpha = np.float32(node.options.get("Alpha", 0.0))
            _keep(lowering, node, view, np.where(values > 0, values, values * alpha))
        elif node.kind in tables.FLOAT:
            with np.errstate(all="ignore"):
                _keep(lowering, node, view, tables.FLOAT[node.kind](values).astype(np.float32))
        else:
            raise Unsupported("is computed in floats (convert with full integer int8)")
    elif node.kind == "DEQUANTIZE":
        lowering.quantized(node.inputs[0])
        _keep(lowering, node, view, tables.dequantized(values, x))
    else:
        lowering.quantized(node.inputs[0])
        lowering.quantized(node.outputs[0])
        try:
            table = _table(node, x, y)
        except ValueError as error:
            raise Unsupported(f"cannot be scaled: {error} (convert it again)") from None
        _keep(lowering, node, view, table[values.astype(np.int64) + 128])


def _table(node, x, y):
    kind = node.kind
    if kind in ("RELU", "RELU6", "RELU_N1_TO_1"):
        return tables.relu(kind, x, y)
    if kind == "LEAKY_RELU":
        return tables.leaky_relu(node.options.get("Alpha", 0.0), x, y)
    if kind == "QUANTIZE":
        return tables.requantize(x, y)
    if kind in tables.CURVES:
        return tables.CURVES[kind](x, y)
    if kind in ("EXP", "LOG", "RSQRT", "SQRT", "ELU", "GELU", "SIN", "COS"):
        return tables.filled(kind, x, y, bool(node.options.get("Approximate")))
    raise Unsupported("has no int8 form that microzo knows (use ReLU)")


def binary(lowering, node):
    """Do ADD, SUB, MUL, MAXIMUM, a comparison ... of a single value; whether it is one."""
    if not all(lowering.is_constant(i) or i in lowering.views for i in node.inputs):
        return False
    operands = _together(lowering, node.inputs)
    if operands is None:
        return False
    view, values = operands
    sources = [lowering.tensor(i) for i in node.inputs]
    y = lowering.tensor(node.outputs[0])
    try:
        _keep(lowering, node, view, _combined(node, sources, values, y))
    except ValueError as error:
        if isinstance(error, Unsupported):
            raise
        raise Unsupported(f"cannot be scaled: {error} (convert it again)") from None
    return True


def only_of_one(lowering, node):
    """A comparison or selection, which is known of one value only."""
    if not binary(lowering, node):
        raise Unsupported("of several activations (use Add, Multiply or Maximum)")


def _combined(node, sources, values, y):
    kind = node.kind
    act = ACTIVATIONS.get(node.options.get("FusedActivationFunction", 0), "NONE")
    if kind in ("SELECT", "SELECT_V2", "WHERE"):
        return np.where(values[0], values[1], values[2])
    a, b = values
    if all(t.dtype == "FLOAT32" for t in sources):
        return _floats(kind, a, b, act)
    for t in (*sources, *(() if kind in COMPARISONS else (y,))):
        if t.dtype != "INT8" or t.scales is None or len(t.scales) != 1:
            raise Unsupported(
                f"uses {t.name!r} of type {t.dtype} (convert with full integer int8)"
            )
        check_scales(t)
    if kind in COMPARISONS:
        return COMPARISONS[kind](*(tables.compared(v, t) for v, t in zip(values, sources)))
    if kind in ("MAXIMUM", "MINIMUM"):
        if len({(float(t.scales[0]), int(t.zero_points[0])) for t in (*sources, y)}) > 1:
            raise Unsupported("changes the quantization (convert it again)")
        return (np.maximum if kind == "MAXIMUM" else np.minimum)(a, b).astype(np.int8)
    clamp = scales.clamp(act, y.scales[0], int(y.zero_points[0]))
    if kind == "MUL":
        return tables.multiplied(a, b, *sources, y, clamp)
    if kind in ("ADD", "SUB"):
        return tables.added(a, b, *sources, y, clamp, kind == "SUB")
    raise Unsupported("of int8 values (convert it again)")


def _floats(kind, a, b, act):
    function = {
        "ADD": np.add, "SUB": np.subtract, "MUL": np.multiply, "DIV": np.divide,
        "MAXIMUM": np.maximum, "MINIMUM": np.minimum, "POW": np.power,
    }.get(kind, COMPARISONS.get(kind))  # fmt: skip
    if function is None:
        raise Unsupported("is computed in floats (convert with full integer int8)")
    with np.errstate(all="ignore"):
        result = function(a.astype(np.float32), b.astype(np.float32))
    limits = FLOAT_LIMITS[act]
    return np.clip(result, *limits) if limits and kind not in COMPARISONS else result


def operand(lowering, number):
    """(View, values of the tensor for each of the 256 of what it reads)"""
    if number not in lowering.views:
        raise Unsupported("needs an activation, not a constant, as its first input (fold it)")
    view = lowering.views[number]
    if any(view.pads):
        raise Unsupported("reads what a PAD made (pad before a convolution)")
    return view, tables.INT8 if view.table is None else view.table


def _together(lowering, numbers):
    """(View, [values of each operand]) if all are functions of one activation, else None."""
    base, result = None, []
    for number in numbers:
        tensor = lowering.tensor(number)
        if lowering.is_constant(number):
            if tensor.size != 1 or tensor.dtype not in ("INT8", "FLOAT32"):
                return None
            result.append(np.broadcast_to(tensor.array().reshape(-1), 256))
            continue
        view, values = operand(lowering, number)
        if base is not None and not _same(base, view):
            return None
        base = view
        result.append(values)
    return None if base is None else (base, result)


def _same(a, b):
    orders = a.order is None and b.order is None
    if a.order is not None and b.order is not None:
        orders = np.array_equal(a.order, b.order)
    return a.tensor == b.tensor and orders


def _keep(lowering, node, view, table):
    """The output is a table over ``view``: into the clamp before it if it is one, else kept."""
    source, out = node.inputs[0], node.outputs[0]
    y = lowering.tensor(out)
    if y.dtype == "INT8":
        if table.dtype.kind not in "iu":
            raise Unsupported("makes int8 of another type (convert it again)")
        table = table.astype(np.int8)
    if y.dtype == "INT8" and not lowering.is_constant(source):
        low, high = int(table.min()), int(table.max())
        clamps = np.array_equal(table, np.clip(tables.INT8, low, high))
        same = view.table is None and view.zero_point == lowering.zero_point(out)
        if clamps and same and (low, high) == (-128, 127):
            lowering.alias(node)
            return
        writer = lowering.writers.get(source)
        if clamps and same and _can_clamp(lowering, source, writer, low, high):
            writer.act_min, writer.act_max = max(writer.act_min, low), min(writer.act_max, high)
            lowering.rename(node, writer)
            return
    lowering.views[out] = View(view.tensor, view.zero_point, order=view.order, table=table)


def _can_clamp(lowering, source, writer, low, high):
    return (
        writer is not None
        and writer.kind in CLAMPING
        and lowering.only_reader(source)
        and max(writer.act_min, low) <= min(writer.act_max, high)
    )


def prelu(lowering, node):
    """PRELU: a table if its slope is the same everywhere, else the part below zero by a MUL."""
    x, y = lowering.quantized(node.inputs[0]), lowering.quantized(node.outputs[0])
    slopes = lowering.quantized(node.inputs[1])
    values = lowering.constant(node.inputs[1], "INT8", "slopes")
    try:
        above, below = tables.prelu(x, y, slopes, np.unique(values))
    except ValueError as error:
        raise Unsupported(f"cannot be scaled: {error} (convert it again)") from None
    if len(below) == 1:
        view, codes = operand(lowering, node.inputs[0])
        negative = codes.astype(np.int64) < int(x.zero_points[0])
        codes = codes.astype(np.int64) + 128
        _keep(lowering, node, view, np.where(negative, below[0][codes], above[codes]))
        return
    _by_channel(lowering, node, x, y, slopes, values, above)


def _by_channel(lowering, node, x, y, slopes, values, above):
    """y = above(x) + slope * min(x, 0): two tables, MUL, and an exact ADD."""
    source, out = node.inputs[0], node.outputs[0]
    lowering.plain(source)
    shape = h, w, c = lowering.shape(source)
    if values.size not in (c, h * w * c) or values.size == c and values.shape[-1] != c:
        raise Unsupported(
            f"has slopes of shape {slopes.shape} for {x.shape} (use shared_axes=[1, 2])"
        )
    zero = int(y.zero_points[0])
    top = lowering.emit_part(source, out, L.LUT, shape, shape)
    top.weight = np.where(tables.INT8 < x.zero_points[0], zero, above).astype(np.int8)
    low = lowering.emit_part(source, source, L.LUT, shape, shape)
    low.weight = np.minimum(tables.INT8, int(x.zero_points[0])).astype(np.int8)
    part = lowering.emit_part(low, out, L.MUL, shape, shape)
    part.weight, part.in2_zp = values.reshape(-1).copy(), int(slopes.zero_points[0])
    part.flags = L.SPREAD_HW if values.size == c and h * w > 1 else 0
    part.mult, part.shift = scales.multiplier(tables.prelu_scale(x, y, slopes))
    total = lowering.emit_part(top, out, L.ADD, shape, shape)
    total.in2, total.in2_zp = part.out, zero
    total.mult1 = total.mult2 = total.mult = 1 << 30
    total.shift1 = total.shift2 = 0
    total.shift = -18
    lowering.finish(total, out)
