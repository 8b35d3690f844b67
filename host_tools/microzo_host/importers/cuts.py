"""What changes the size only: PAD, PADV2, STRIDED_SLICE, SLICE, SPLIT, UNPACK."""

import numpy as np

from microzo.net import words as L

from . import orders, tflite_fold
from .problems import Unsupported
from .reductions import same_quantization
from .weighted import window

CONVOLUTIONS = ("CONV_2D", "DEPTHWISE_CONV_2D")
MOST = 65535


def pad(lowering, node):
    """PAD and PADV2; convolutions and pools take the pads of rows and columns over."""
    same_quantization(lowering, node)
    number = node.inputs[0]
    x = lowering.tensor(number)
    paddings = _integers(lowering, node.inputs[1], "paddings")
    shape, axes = lowering.axes(number)
    if paddings.shape != (len(x.shape), 2) or paddings.min() < 0 or paddings.max() > MOST:
        raise Unsupported(f"has pads {paddings.tolist()} for {x.shape} (pad by 0 to {MOST})")
    view = lowering.view(number)
    fill = _fill(lowering, node) if node.kind == "PADV2" else lowering.zero_point(number)
    ours = np.zeros((3, 2), int)
    for axis, amounts in zip(axes, paddings):
        if amounts.any() and axis is None:
            raise Unsupported(f"pads the batch of {x.shape} (pad rows, columns or channels)")
        if amounts.any():
            ours[axis] += amounts
    rows = (*ours[0], *ours[1])
    if view.order is None and not ours[2].any() and _taken_over(lowering, node, rows, fill):
        lowering.alias(node, pads=tuple(int(n) + p for n, p in zip(rows, view.pads)))
        return
    if fill != lowering.zero_point(number):
        raise Unsupported("pads with another value than 0 (pad with 0)")
    if any(view.pads):
        raise Unsupported("pads what another PAD made (pad once)")
    _resize(lowering, node, node.outputs[0], shape, axes, -ours[:, 0], shape + ours.sum(1))


def _fill(lowering, node):
    value = lowering.constant(node.inputs[2], "INT8", "fill")
    if value.size != 1:
        raise Unsupported("has several fills (pad with 0)")
    return int(value.reshape(-1)[0])


def _taken_over(lowering, node, pads, fill):
    """Whether only windows larger than the pads read it, to which ``fill`` means nothing."""
    for reader, number in lowering.consumers(node.outputs[0]):
        if reader is None or reader.inputs[0] != number:
            return False
        if reader.kind in CONVOLUTIONS and fill == lowering.zero_point(node.inputs[0]):
            kernel = lowering.tensor(reader.inputs[1]).shape[1:3]
        elif reader.kind == "MAX_POOL_2D" and fill == -128:
            kernel = tuple(reader.options.get(f"Filter{d}", 0) for d in ("Height", "Width"))
        else:
            return False
        if len(kernel) != 2:
            return False
        _, (top, bottom, left, right), dilation = window(lowering, reader, kernel, pads)
        reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
        if max(top, bottom) >= reach[0] or max(left, right) >= reach[1]:
            return False
    return True


def strided_slice(lowering, node):
    """STRIDED_SLICE of an activation: Keras' Cropping layers and x[:, a:b:c]."""
    x = lowering.quantized(node.inputs[0])
    begin, end, steps = (_integers(lowering, i, "bounds").reshape(-1) for i in node.inputs[1:4])
    try:
        slices, _ = tflite_fold.strided(node.options, x.shape, begin, end, steps)
    except (ValueError, IndexError) as error:
        raise Unsupported(f"cannot be read: {error} (slice axis by axis)") from None
    _cut(lowering, node, node.outputs[0], slices)


def slice_(lowering, node):
    """SLICE."""
    begin, size = (_integers(lowering, i, "bounds").reshape(-1) for i in node.inputs[1:3])
    slices = tuple(
        slice(int(b), None if n < 0 else int(b + n)) for b, n in zip(begin, size, strict=True)
    )
    _cut(lowering, node, node.outputs[0], slices)


def split(lowering, node):
    """SPLIT into equal parts."""
    x = lowering.quantized(node.inputs[1])
    axis = int(_integers(lowering, node.inputs[0], "axis").reshape(-1)[0])
    _parts(lowering, node, node.inputs[1], axis, [1] * len(node.outputs), x)


def split_v(lowering, node):
    """SPLIT_V into parts of given sizes."""
    x = lowering.quantized(node.inputs[0])
    sizes = _integers(lowering, node.inputs[1], "sizes").reshape(-1).tolist()
    axis = int(_integers(lowering, node.inputs[2], "axis").reshape(-1)[0])
    _parts(lowering, node, node.inputs[0], axis, sizes, x)


def _parts(lowering, node, source, axis, sizes, x):
    rank = len(x.shape)
    if not -rank <= axis < rank or min(sizes) < 1 or x.shape[axis] % sum(sizes):
        raise Unsupported(f"splits {x.shape} along axis {axis} into {sizes} (convert it again)")
    unit, start = x.shape[axis] // sum(sizes), 0
    for out, size in zip(node.outputs, sizes, strict=True):
        slices = [slice(None)] * rank
        slices[axis] = slice(start, start + size * unit)
        start += size * unit
        _cut(lowering, node, out, tuple(slices), source)


def _cut(lowering, node, out, slices, source=None):
    """The values of ``slices`` of an activation, one slice an axis."""
    source = node.inputs[0] if source is None else source
    x, y = lowering.quantized(source), lowering.quantized(out)
    if x.scales[0] != y.scales[0] or x.zero_points[0] != y.zero_points[0]:
        raise Unsupported("changes the quantization (convert it again)")
    shape, axes = lowering.axes(source)
    starts, counts, steps = np.zeros(3, int), np.array(shape), np.ones(3, int)
    for axis, part, n in zip(axes, slices, x.shape):
        first, last, step = part.indices(n)
        count = len(range(first, last, step))
        if step < 1 or not count:
            raise Unsupported(f"takes {part} of {n} (slice forwards, at least one value)")
        if axis is not None:
            starts[axis], counts[axis], steps[axis] = first, count, step
    if any(lowering.views[source].pads):
        raise Unsupported("cuts what a PAD made (pad less)")
    if int(np.prod(counts)) != y.size:
        raise Unsupported(f"turns {x.shape} into {y.shape} (convert it again)")
    _resize(lowering, node, out, shape, axes, starts, counts, steps, source)


def _resize(lowering, node, out, shape, axes, starts, counts, steps=(1, 1, 1), source=None):
    """Operators that take ``counts`` values from ``starts`` on in each direction (h, w, c).

    A negative start, or a count beyond the end, pads.
    """
    source = node.inputs[0] if source is None else source
    order = lowering.view(source).order
    spans = [(n - 1) * s + 1 for n, s in zip(counts, steps)]
    numbers = ([int(v) for v in a] for a in (starts, spans, steps))
    stages = _stages(tuple(map(int, shape)), *numbers)
    if not stages:
        lowering.views[out] = lowering.views[source]
    for i, (kind, read, size, pads, stride) in enumerate(stages):
        final = i == len(stages) - 1
        op = lowering.emit_from(source, out, kind, read, size, final)
        op.p_t, op.p_b, op.p_l, op.p_r = pads
        op.s_h, op.s_w = stride
        source = out
    if order is not None:
        moved = orders.moved(axes, tuple(map(int, counts)))
        lowering.reorder(out, orders.in_place(moved))


def _stages(shape, starts, spans, steps):
    """[(kind, shape it reads, shape it makes, pads, stride)]"""
    stages, none = [], (0, 0, 0, 0)

    def add(kind, read, size, pads, stride):
        if max(*read, *size, *map(abs, pads)) > MOST:
            raise Unsupported(f"cuts {read} (use fewer rows and columns)")
        stages.append((kind, read, size, pads, stride))

    h, w, c = shape
    cut = [(-starts[i], starts[i] + spans[i] - shape[i]) for i in range(3)]
    if any(cut[0]) or any(cut[1]):
        add(L.PAD, (h, w, c), (spans[0], spans[1], c), (*cut[0], *cut[1]), (1, 1))
        h, w = spans[:2]
    if steps[0] > 1 or steps[1] > 1:
        size = (h - 1) // steps[0] + 1, (w - 1) // steps[1] + 1, c
        add(L.MAXPOOL, (h, w, c), size, none, tuple(steps[:2]))
        h, w = size[:2]
    if any(cut[2]):  # channels lie side by side: they are cut as columns of one channel
        add(L.PAD, (h * w, c, 1), (h * w, spans[2], 1), (0, 0, *cut[2]), (1, 1))
        c = spans[2]
    if steps[2] > 1:
        size = (c - 1) // steps[2] + 1
        add(L.MAXPOOL, (h * w, c, 1), (h * w, size, 1), none, (1, steps[2]))
    return stages


def _integers(lowering, number, what):
    tensor = lowering.tensor(number)
    if not lowering.is_constant(number) or tensor.dtype not in ("INT32", "INT64"):
        raise Unsupported(f"needs constant {what} (fold or freeze them in the source)")
    return tensor.array().astype(np.int64)
