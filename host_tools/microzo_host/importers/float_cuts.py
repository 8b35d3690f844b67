"""ONNX operators that join, cut or pad: Concat, Slice, Gather, Split, Pad."""

import math

import numpy as np

from . import orders
from .problems import Unsupported

MOST = 65535


def concat(g, node):
    """Concat along rows, columns or channels, two at a time; or of flat tensors."""
    parts = [g.view(i) for i in node.inputs]
    rank = len(parts[0].shape)
    axis = int(node.attributes.get("axis", 1))
    if len(parts) < 2 or not -rank <= axis < rank or any(len(v.shape) != rank for v in parts):
        raise Unsupported(f"joins {[v.shape for v in parts]} (join rows, columns or channels)")
    axis %= rank
    shapes = [g.shapes[v.tensor] for v in parts]
    places = [orders.axes(v.order, v.shape, s) for v, s in zip(parts, shapes)]
    known = next((p[axis] for p in places if p is not None and p[axis] is not None), None)
    if None in places or known is None or not _aligned(places, axis):
        _flat(g, node, parts, axis)
        return
    tensor, shape = parts[0].tensor, list(shapes[0])
    for i in range(1, len(parts)):
        shape[known] += shapes[i][known]
        if i < len(parts) - 1:
            pair = tensor, parts[i].tensor
            tensor = g.part(node, "concat", pair, tuple(shape), axis=known)
    merged = [next((p[k] for p in places if p[k] is not None), None) for k in range(rank)]
    view_shape = list(parts[0].shape)
    view_shape[axis] = sum(v.shape[axis] for v in parts)
    g.emit(
        node, "concat", (tensor, parts[-1].tensor), tuple(shape), view_shape,
        orders.moved(merged, tuple(shape)), axis=known,
    )  # fmt: skip


def _aligned(places, axis):
    """Whether all tensors have their axes in one order."""
    for column in zip(*places):
        if len({p for p in column if p is not None}) > 1:
            return False
    return True


def _flat(g, node, parts, axis):
    """Of tensors that are lists of values: (1, n) and (1, m)."""
    if any(math.prod(v.shape) != v.shape[axis] for v in parts):
        raise Unsupported(f"joins {[v.shape for v in parts]} in an unusual order (permute less)")
    tensor, order = parts[0].tensor, parts[0].order
    for i, part in enumerate(parts[1:], 1):
        shape = 1, 1, len(order) + len(part.order)
        order = np.concatenate([order, len(order) + part.order])
        if i < len(parts) - 1:
            tensor = g.part(node, "concat", (tensor, part.tensor), shape, axis=3)
    view_shape = list(parts[0].shape)
    view_shape[axis] = len(order)
    g.emit(node, "concat", (tensor, parts[-1].tensor), shape, view_shape, order, axis=3)


def slice_(g, node):
    """Slice of rows, columns or channels."""
    a = node.attributes
    given = [a.get("starts"), a.get("ends"), a.get("axes"), None]
    for i, name in enumerate(node.inputs[1:5]):
        if name:
            given[i] = np.asarray(g.constant(name, "bounds")).reshape(-1)
    starts, ends = given[:2]
    view = g.view(node.inputs[0])
    axes = range(len(starts)) if given[2] is None else given[2]
    steps = [1] * len(starts) if given[3] is None else given[3]
    slices = [slice(None)] * len(view.shape)
    for first, last, axis, step in zip(starts, ends, axes, steps, strict=True):
        slices[int(axis)] = slice(int(first), int(last), int(step))
    cut(g, node, slices, node.outputs[0])


def gather(g, node):
    """Gather of one place: x[:, 3]."""
    view = g.view(node.inputs[0])
    axis = int(node.attributes.get("axis", 0)) % len(view.shape)
    places = np.asarray(g.constant(node.inputs[1], "index"))
    if places.size != 1 or not -view.shape[axis] <= int(places.reshape(-1)[0]) < view.shape[axis]:
        raise Unsupported(f"takes places {places.shape} of {view.shape} (slice instead)")
    slices = [slice(None)] * len(view.shape)
    at = int(places.reshape(-1)[0]) % view.shape[axis]
    slices[axis] = slice(at, at + 1)
    cut(g, node, slices, node.outputs[0])
    if places.ndim == 0:
        part = g.views[node.outputs[0]]
        part.shape = tuple(n for i, n in enumerate(part.shape) if i != axis)


def split(g, node):
    """Split into parts along one axis."""
    view = g.view(node.inputs[0])
    axis = int(node.attributes.get("axis", 0)) % len(view.shape)
    sizes = node.attributes.get("split")
    if len(node.inputs) > 1 and node.inputs[1]:
        sizes = np.asarray(g.constant(node.inputs[1], "sizes")).reshape(-1)
    if sizes is None:
        each = -(-view.shape[axis] // len(node.outputs))
        sizes = [min(each, view.shape[axis] - i * each) for i in range(len(node.outputs))]
    start = 0
    for out, size in zip(node.outputs, sizes, strict=True):
        slices = [slice(None)] * len(view.shape)
        slices[axis] = slice(start, start + int(size))
        start += int(size)
        cut(g, node, slices, out)


def cut(g, node, slices, out):
    """The values of ``slices`` of an activation, one slice an axis."""
    ours, view, places = g.axes(node.inputs[0])
    starts, counts, steps = [0, 0, 0], list(ours), [1, 1, 1]
    shape = list(view.shape)
    for axis, (part, n) in enumerate(zip(slices, view.shape)):
        first, last, step = part.indices(n)
        shape[axis] = len(range(first, last, step))
        if step < 1 or not shape[axis]:
            raise Unsupported(f"takes {part} of {n} (slice forwards, at least one value)")
        if places[axis] is not None:
            at = places[axis]
            starts[at], counts[at], steps[at] = first, shape[axis], step
    spans = [(n - 1) * s + 1 for n, s in zip(counts, steps)]
    ends = [start + span - n for start, span, n in zip(starts, spans, ours)]
    _resize(g, node, out, view, places, ours, [-s for s in starts], ends, steps, shape)


def _resize(g, node, out, view, places, ours, before, after, steps, view_shape):
    """Layers that pad (cut, if negative) each of our axes, then take every so many."""
    if steps[2] > 1:
        raise Unsupported(f"takes every {steps[2]} channels (reorder the layer before)")
    (h, w, c), tensor, layers = ours, view.tensor, []
    if any(before[:2]) or any(after[:2]):
        h, w = h + before[0] + after[0], w + before[1] + after[1]
        pads = before[0], after[0], before[1], after[1]
        layers.append(("pad", (h, w, c), dict(pads=pads)))
    if steps[0] > 1 or steps[1] > 1:
        h, w = (h - 1) // steps[0] + 1, (w - 1) // steps[1] + 1
        layers.append(("maxpool", (h, w, c), dict(kernel=(1, 1), stride=tuple(steps[:2]))))
    if before[2] or after[2]:
        c = c + before[2] + after[2]
        layers.append(("channels", (h, w, c), dict(pads=(0, 0, before[2], after[2]))))
    for kind, shape, fields in layers[:-1]:
        tensor = g.part(node, kind, (tensor,), shape, **fields)
    if not layers:
        g.shared.add(view.tensor)
        g.views[out] = view
        return
    kind, shape, fields = layers[-1]
    order = orders.moved(places, shape)
    g.emit(node, kind, (tensor,), shape, view_shape, order, out, **fields)


def pad(g, node):
    """Pad with zeros; negative pads cut off."""
    a = node.attributes
    ours, view, places = g.axes(node.inputs[0])
    pads = a.get("pads")
    if pads is None:
        pads = g.constant(node.inputs[1], "pads").reshape(-1)
    value = a.get("value", 0.0)
    if len(node.inputs) > 2 and node.inputs[2]:
        value = np.asarray(g.constant(node.inputs[2], "value")).reshape(-1)[0]
    axes = range(len(view.shape))
    if len(node.inputs) > 3 and node.inputs[3]:
        axes = np.asarray(g.constant(node.inputs[3], "axes")).reshape(-1)
    if a.get("mode", "constant") != "constant" or value != 0:
        raise Unsupported("pads with another value than 0 (use zero padding)")
    pads = [int(p) for p in pads]
    if len(pads) != 2 * len(axes) or max(map(abs, pads)) > MOST:
        raise Unsupported(f"has pads {pads} for {view.shape} (export it again)")
    before, after, shape = [0, 0, 0], [0, 0, 0], list(view.shape)
    for i, axis in enumerate(int(n) % len(view.shape) for n in axes):
        first, last = pads[i], pads[i + len(axes)]
        at = places[axis]
        if (first or last) and at is None:
            at = _axis_of_one(places, ours, axis)
        if first or last:
            before[at], after[at] = first, last
            shape[axis] += first + last
    if min(shape) < 1:
        raise Unsupported(f"has pads {pads} for {view.shape} (cut less)")
    places = [p if n == 1 or p is not None else _axis_of_one(places, ours, i)
              for i, (p, n) in enumerate(zip(places, shape))]  # fmt: skip
    _resize(g, node, node.outputs[0], view, places, ours, before, after, [1, 1, 1], shape)


def _axis_of_one(places, ours, axis):
    """Our axis of one value that an axis of one value stands for."""
    rank = len(places)
    first = (None, 2, 0, 1) if rank == 4 else (None, 2, 1)
    at = first[axis] if rank in (3, 4) else None
    if at is None or at in places or ours[at] != 1:
        raise Unsupported("pads the batch, or an unusual order (pad rows, columns or channels)")
    return at
