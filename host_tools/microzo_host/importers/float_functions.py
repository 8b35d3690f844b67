"""ONNX functions of one value, and arithmetic of activations.

A tensor that depends on one activation value by value is kept as a function (View.curve):
x * tanh(softplus(x)) becomes one table, however an exporter writes it.
"""

import math

import numpy as np

from ..model import network
from . import float_layers, orders
from .float_graph import View, layer_name
from .problems import Unsupported

# Layers whose output is clamped for nothing.
CLAMPING = (*network.WEIGHTED, *network.POOLS, "add", "sub", "mul", "mean")
ACTIVATIONS = {(0.0, np.inf): "relu", (0.0, 6.0): "relu6", (-np.inf, np.inf): "none"}


def _sigmoid(x):
    return 0.5 * (1 + np.tanh(0.5 * x))


def _softplus(x):
    return np.logaddexp(0, x)


def _erf(x):
    return np.vectorize(math.erf, otypes=[np.float64])(x)


def _gelu(attributes):
    if attributes.get("approximate", "none") == "tanh":
        gain = math.sqrt(2 / math.pi)
        return lambda x: 0.5 * x * (1 + np.tanh(gain * (x + 0.044715 * x**3)))
    return lambda x: 0.5 * x * (1 + _erf(x / math.sqrt(2)))


def _elu(alpha):
    return lambda x: np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x)


def _selu(a):
    elu, gamma = _elu(a.get("alpha", 1.6732632)), a.get("gamma", 1.0507010)
    return lambda x: gamma * elu(x)


def _hard_sigmoid(a):
    alpha, beta = a.get("alpha", 0.2), a.get("beta", 0.5)
    return lambda x: np.clip(alpha * x + beta, 0, 1)


def _celu(a):
    alpha = a.get("alpha", 1.0)
    return lambda x: np.maximum(x, 0) + np.minimum(0, alpha * np.expm1(np.minimum(x, 0) / alpha))


def _leaky(alpha):
    return lambda x: np.where(x < 0, alpha * x, x)


def _swish(a):
    alpha = a.get("alpha", 1.0)
    return lambda x: x * _sigmoid(alpha * x)


# By kind: the function, given the node's attributes.
CURVES = {
    "LeakyRelu": lambda a: _leaky(a.get("alpha", 0.01)),
    "Elu": lambda a: _elu(a.get("alpha", 1.0)),
    "Selu": _selu,
    "Celu": _celu,
    "Sigmoid": lambda a: _sigmoid,
    "Tanh": lambda a: np.tanh,
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": lambda a: lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "Softplus": lambda a: _softplus,
    "Softsign": lambda a: lambda x: x / (1 + np.abs(x)),
    "Mish": lambda a: lambda x: x * np.tanh(_softplus(x)),
    "Swish": _swish,
    "Gelu": _gelu,
    "ThresholdedRelu": lambda a: lambda x: np.where(x > a.get("alpha", 1.0), x, 0),
    "Erf": lambda a: _erf,
    "Exp": lambda a: np.exp,
    "Log": lambda a: lambda x: np.log(np.maximum(x, 1e-30)),
    "Sqrt": lambda a: lambda x: np.sqrt(np.maximum(x, 0)),
    "Reciprocal": lambda a: lambda x: 1 / np.where(x == 0, 1e-30, x),
    "Abs": lambda a: np.abs,
    "Neg": lambda a: np.negative,
    "Sin": lambda a: np.sin,
    "Cos": lambda a: np.cos,
    "Atan": lambda a: np.arctan,
    "Sign": lambda a: np.sign,
    "Floor": lambda a: np.floor,
}
BINARY = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Max": np.maximum, "Min": np.minimum,
    "Div": lambda a, b: a / np.where(b == 0, 1e-30, b),
    "Pow": lambda a, b: np.power(a, b),
}  # fmt: skip
COMPARISONS = {
    "Greater": np.greater, "GreaterOrEqual": np.greater_equal, "Less": np.less,
    "LessOrEqual": np.less_equal, "Equal": np.equal,
}  # fmt: skip


def unary(g, node):
    """A function of one value."""
    function = CURVES[node.kind](node.attributes)
    _curve(g, node, node.inputs[0], lambda f: lambda x: function(f(x)))


def _curve(g, node, name, change):
    """The output is change(f) of what ``name`` is a function f of."""
    view = g.raw(name)
    before = view.curve or (lambda x: x)
    if not g.only_reader(name):
        g.shared.add(view.tensor)
    g.views[node.outputs[0]] = View(
        view.tensor, view.shape, view.order, change(before), layer_name(node)
    )


def activation(g, node):
    """Relu and Clip: into the layer before, else a layer of their own, or into a function."""
    low, high = (0.0, np.inf) if node.kind == "Relu" else _bounds(g, node)
    if low > high:
        raise Unsupported(f"limits to {low:g} and {high:g} (export it again)")
    name = ACTIVATIONS.get((low, high), (low, high))
    view = g.raw(node.inputs[0])
    layer = g.writer(node.inputs[0])
    if layer is not None and layer.kind in CLAMPING:
        layer.activation = name
        g.alias(node)
    elif view.curve is not None:
        _curve(g, node, node.inputs[0], lambda f: lambda x: np.clip(f(x), low, high))
    elif isinstance(name, str):
        shape = g.shapes[view.tensor]
        g.emit(node, "maxpool", (view.tensor,), shape, view.shape, view.order, activation=name)
    else:
        _curve(g, node, node.inputs[0], lambda f: lambda x: np.clip(f(x), low, high))


def _bounds(g, node):
    """The limits of a Clip: attributes in old files, inputs in new ones."""
    a = node.attributes
    bounds = [a.get("min", -np.inf), a.get("max", np.inf)]
    for i, name in enumerate(node.inputs[1:3]):
        if name:
            bounds[i] = np.asarray(g.constant(name, "limits")).reshape(-1)[0]
    return tuple(float(b) if abs(b) < 1e30 else float(np.sign(b)) * np.inf for b in bounds)


def arithmetic(g, node):
    """Add, Sub, Mul, Div, Max, Min, Pow: of activations, or with a constant."""
    if len(node.inputs) == 1:
        g.alias(node)
        return
    if len(node.inputs) > 2:
        raise Unsupported(f"of {len(node.inputs)} inputs (take two at a time)")
    first, second = node.inputs
    if first in g.views and second in g.views:
        if not _together(g, node, first, second):
            _two(g, node, first, second)
        return
    swapped = second in g.views
    name, other = (second, first) if swapped else (first, second)
    value = np.asarray(g.constant(other, "operand"), np.float64)
    if node.kind in ("Add", "Sub", "Mul", "Div") and not (swapped and node.kind == "Div"):
        if value.size > 1 or g.writer(name) is not None or g.raw(name).tensor == 0:
            _affine(g, node, name, value, swapped)
            return
    if value.size != 1:
        raise Unsupported(f"with a constant of shape {value.shape} (use one number)")
    number, function = float(value.reshape(-1)[0]), (BINARY | COMPARISONS)[node.kind]
    if swapped:
        _curve(g, node, name, lambda f: lambda x: function(np.full_like(x, number), f(x)))
    else:
        _curve(g, node, name, lambda f: lambda x: function(f(x), number))


def _affine(g, node, name, value, swapped):
    """With one number a channel: x * gain + shift."""
    value = float_layers.per_channel(g, name, value)
    one = np.ones_like(value)
    if node.kind == "Add":
        gain, shift = one, value
    elif node.kind == "Sub":
        gain, shift = (-one, value) if swapped else (one, -value)
    elif node.kind == "Mul":
        gain, shift = value, 0 * value
    elif not value.all():
        raise Unsupported("divides by zero (multiply instead)")
    else:
        gain, shift = 1 / value, 0 * value
    float_layers.affine(g, node, gain, shift, name)


def _together(g, node, first, second):
    """Do it if both depend on one activation value by value; whether they do."""
    a, b = g.raw(first), g.raw(second)
    if a.tensor != b.tensor or a.shape != b.shape or not np.array_equal(a.order, b.order):
        return False
    if node.kind == "Add" and a.curve is None and b.curve is None:
        return False
    function = (BINARY | COMPARISONS)[node.kind]
    one, two = (v.curve or (lambda x: x) for v in (a, b))
    g.shared.add(a.tensor)
    g.views[node.outputs[0]] = View(
        a.tensor, a.shape, a.order, lambda x: function(one(x), two(x)), layer_name(node)
    )
    return True


def where(g, node):
    """Where: one of two functions of one activation, or of constants."""
    base, parts = None, []
    for name in node.inputs:
        if name in g.constants:
            value = np.asarray(g.constants[name])
            if value.size != 1:
                raise Unsupported(f"with a constant of shape {value.shape} (use one number)")
            parts.append(_constant(value.reshape(-1)[0]))
            continue
        view = g.raw(name)
        if base is not None and (view.tensor, view.shape) != (base.tensor, base.shape):
            raise Unsupported("of several activations (use sums, products or maxima)")
        base = view
        g.shared.add(view.tensor)
        parts.append(view.curve or (lambda x: x))
    test, one, two = parts
    g.views[node.outputs[0]] = View(
        base.tensor, base.shape, base.order,
        lambda x: np.where(test(x), one(x), two(x)), layer_name(node),
    )  # fmt: skip


def _two(g, node, first, second):
    """Of two activations; one may be spread over positions or channels."""
    a, b = g.view(first), g.view(second)
    swapped = len(b.order) > len(a.order)
    if swapped:
        a, b = b, a
    _check_spread(g, a, b)
    shape, pair = g.shapes[a.tensor], (a.tensor, b.tensor)
    if node.kind in ("Add", "Mul"):
        g.emit(node, node.kind.lower(), pair, shape, a.shape, a.order)
    elif node.kind == "Sub":
        if swapped:
            raise Unsupported("takes a larger tensor from a smaller one (swap them)")
        g.emit(node, "sub", pair, shape, a.shape, a.order)
    elif node.kind in ("Max", "Min"):
        # max(a, b) = a + relu(b - a), min(a, b) = a - relu(a - b)
        if g.shapes[a.tensor] != g.shapes[b.tensor]:
            raise Unsupported(f"combines {a.shape} and {b.shape} (make both the same)")
        order = pair[::-1] if node.kind == "Max" else pair
        more = g.part(node, "sub", order, shape, activation="relu")
        kind = "add" if node.kind == "Max" else "sub"
        g.emit(node, kind, (a.tensor, more), shape, a.shape, a.order)
    else:
        raise Unsupported("of two activations (multiply them, or use a constant)")


def _check_spread(g, a, b):
    """Unsupported unless b has the shape of a, or one value for rows and columns or channels."""
    large, small = g.shapes[a.tensor], g.shapes[b.tensor]
    same = a.shape == b.shape and large == small and np.array_equal(a.order, b.order)
    fits = small[:2] in (large[:2], (1, 1)) and small[2] in (large[2], 1) and small != large
    if not same:
        places = [orders.axes(v.order, v.shape, s) for v, s in ((a, large), (b, small))]
        # Axes are told apart from the end, as ONNX spreads them.
        aligned = None not in places and all(
            p is None or p == q for p, q in zip(places[1][::-1], places[0][::-1])
        )
        if not fits or not aligned:
            raise Unsupported(
                f"combines {a.shape} and {b.shape} (spread over positions or channels only)"
            )


def prelu(g, node):
    """PRelu: a function for one slope, else relu(x) and slope * min(x, 0) added."""
    slope = np.asarray(g.constant(node.inputs[1], "slopes"), np.float64)
    if (slope == slope.reshape(-1)[0]).all():
        alpha = float(slope.reshape(-1)[0])
        _curve(g, node, node.inputs[0], lambda f: lambda x: _leaky(alpha)(f(x)))
        return
    view = g.view(node.inputs[0])
    slope = float_layers.per_channel(g, node.inputs[0], slope)
    shape = g.shapes[view.tensor]
    above = g.part(node, "maxpool", (view.tensor,), shape, activation="relu")
    below = g.part(node, "function", (view.tensor,), shape, function=lambda x: np.minimum(x, 0))
    below = g.part(
        node, "depthwise", (below,), shape, weight=slope.astype(np.float32).reshape(-1, 1, 1, 1),
        bias=np.zeros(shape[2], np.float32),
    )  # fmt: skip
    g.emit(node, "add", (above, below), shape, view.shape, view.order)


def _constant(value):
    return lambda x: np.full(x.shape, value)
