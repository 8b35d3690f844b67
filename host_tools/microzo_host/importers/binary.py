"""Operators of several activations: ADD, SUB, MUL and CONCATENATION."""

from microzo.net import words as L

from . import scales
from .lowering import hwc
from .problems import Unsupported
from .weighted import activation


def add(lowering, node):
    """ADD and SUB; the smaller operand may be spread or constant."""
    a, b, y = (lowering.quantized(i) for i in (*node.inputs[:2], node.outputs[0]))
    try:
        parts = [
            scales.multiplier(e) for e in scales.addition(a.scales[0], b.scales[0], y.scales[0])
        ]
    except ValueError as error:
        raise Unsupported(f"cannot be scaled: {error} (convert it again)") from None
    if node.kind == "SUB":
        parts[1] = -parts[1][0], parts[1][1]
    op, swapped = _two(lowering, node, L.ADD)
    first, second = parts[1::-1] if swapped else parts[:2]
    (op.mult1, op.shift1), (op.mult2, op.shift2), (op.mult, op.shift) = first, second, parts[2]
    activation(lowering, node, op)


def mul(lowering, node):
    """MUL; the smaller operand may be spread or constant."""
    a, b, y = (lowering.quantized(i) for i in (*node.inputs[:2], node.outputs[0]))
    op, _ = _two(lowering, node, L.MUL)
    try:
        effective = scales.product(a.scales[0], b.scales[0], y.scales[0])
        op.mult, op.shift = scales.multiplier(effective)
    except ValueError as error:
        raise Unsupported(f"cannot be scaled: {error} (convert it again)") from None
    activation(lowering, node, op)


def _two(lowering, node, kind):
    """(operator, whether its operands are swapped): the first has the output's shape."""
    shape = hwc(lowering.tensor(node.outputs[0]))
    for swapped, (first, second) in enumerate((node.inputs[:2], node.inputs[1::-1])):
        x, other = lowering.tensor(first), lowering.tensor(second)
        spread = _spread(shape, hwc(other))
        if lowering.is_constant(first) or hwc(x) != shape or spread is None:
            continue
        lowering.plain(first)
        fields = {"flags": spread, "in2_zp": lowering.zero_point(second)}
        if lowering.is_constant(second):
            fields["weight"] = lowering.constant(second, "INT8", "operand").reshape(-1).copy()
        else:
            fields["in2"] = lowering.plain(second).tensor
        op = lowering.emit_from(first, node.outputs[0], kind, shape, shape, **fields)
        return op, bool(swapped)
    shapes = [lowering.tensor(i).shape for i in node.inputs[:2]]
    raise Unsupported(
        f"combines {shapes[0]} and {shapes[1]} (spread over positions or channels only)"
    )


def _spread(shape, other):
    """Flags that make ``other`` fit ``shape``, or None."""
    flags = 0
    if other[:2] != shape[:2]:
        if other[:2] != (1, 1):
            return None
        flags |= L.SPREAD_HW
    if other[2] != shape[2]:
        if other[2] != 1:
            return None
        flags |= L.SPREAD_C
    return flags


def concatenate(lowering, node):
    """CONCATENATION along rows, columns or channels, two tensors at a time."""
    y = lowering.quantized(node.outputs[0])
    tensors = [lowering.quantized(i) for i in node.inputs]
    rank = len(y.shape)
    along = node.options.get("Axis", 0)
    axis = along % rank - rank + 3 if -rank <= along < rank else -1
    if axis < 0 or any(len(t.shape) != rank for t in tensors) or len(tensors) < 2:
        raise Unsupported(
            f"joins along axis {along} of {y.shape} (join rows, columns or channels)"
        )
    if node.options.get("FusedActivationFunction", 0):
        raise Unsupported("has a fused activation (put it after the joined layers)")
    if any(t.scales[0] != y.scales[0] or t.zero_points[0] != y.zero_points[0] for t in tensors):
        raise Unsupported("joins different quantizations (convert it again)")
    shapes = [hwc(t) for t in tensors]
    rests = {(*s[:axis], *s[axis + 1 :]) for s in (*shapes, hwc(y))}
    if len(rests) != 1 or sum(s[axis] for s in shapes) != hwc(y)[axis]:
        raise Unsupported(f"joins {shapes} to {y.shape} (convert it again)")
    views = [lowering.plain(i) for i in node.inputs]
    source, shape = node.inputs[0], list(shapes[0])
    for i in range(1, len(views)):
        before = tuple(shape)
        shape[axis] += shapes[i][axis]
        lowering.emit_from(
            source, node.outputs[0], L.CONCAT, before, tuple(shape), final=i == len(views) - 1,
            in2=views[i].tensor, in2_zp=views[i].zero_point,
        )  # fmt: skip
        source = node.outputs[0]
