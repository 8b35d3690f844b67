"""The float network of an ONNX file, float or QDQ."""

import dataclasses

import numpy as np

from ..model import network
from . import float_cuts, float_functions, float_layers, float_views, onnx_ends, onnx_file
from .float_graph import FloatGraph, channels_first
from .problems import Unsupported

HANDLERS = {
    "Conv": float_layers.conv,
    "Gemm": float_layers.gemm,
    "MatMul": float_layers.matmul,
    "BatchNormalization": float_layers.batch_norm,
    **dict.fromkeys(float_functions.BINARY, float_functions.arithmetic),
    **dict.fromkeys(float_functions.CURVES, float_functions.unary),
    **dict.fromkeys(("Relu", "Clip"), float_functions.activation),
    **dict.fromkeys(float_functions.COMPARISONS, float_functions.arithmetic),
    "Where": float_functions.where,
    "PRelu": float_functions.prelu,
    **dict.fromkeys(("MaxPool", "AveragePool"), float_views.pool),
    **dict.fromkeys(
        ("GlobalAveragePool", "GlobalMaxPool", "ReduceMean", "ReduceMax"), float_views.global_pool
    ),
    "Pad": float_cuts.pad,
    "Concat": float_cuts.concat,
    "Slice": float_cuts.slice_,
    "Gather": float_cuts.gather,
    "Split": float_cuts.split,
    "ai.onnx.ml.Scaler": float_layers.scaler,
    **dict.fromkeys(("Reshape", "Flatten", "Squeeze", "Unsqueeze"), float_views.reshape),
    "Transpose": float_views.transpose,
    **dict.fromkeys(("Identity", "Dropout", "Cast"), float_views.same),
}
NORM = "use BatchNorm, which is folded"
RESIZE = "resize on the PC, before the samples are sent, or use a convolution with strides"
RECURRENT = "use causal Conv1d layers with dilation over time"
CURES = {
    "ConvTranspose": "train the encoder alone, or upsample on the PC",
    "Resize": RESIZE,
    "Upsample": RESIZE,
    "LSTM": RECURRENT,
    "GRU": RECURRENT,
    "RNN": RECURRENT,
    "Loop": RECURRENT,
    "Scan": RECURRENT,
    "If": "export one branch",
    "Softmax": "keep it at the end only, where it is dropped",
    "LayerNormalization": NORM,
    "GroupNormalization": NORM,
    "InstanceNormalization": NORM,
    "LpNormalization": NORM,
    "LRN": NORM,
    "Einsum": "attention: use a linear layer or a convolution",
    "ReduceSum": "use a mean, which is the sum but for a factor",
    "ReduceMin": "use a maximum",
    "ReduceProd": "use a mean",
    "ArgMax": "leave it out: microzo takes the largest output itself",
    "TopK": "leave it out: microzo takes the largest output itself",
    "DepthToSpace": RESIZE,
    "SpaceToDepth": "use a convolution with strides",
    "NonMaxSuppression": "import the network without its boxes: microzo trains classifiers",
    "ai.onnx.ml.TreeEnsembleClassifier": "train a small MLPClassifier: microzo runs networks",
    "ai.onnx.ml.LinearClassifier": "train an MLPClassifier: microzo runs networks",
    "ai.onnx.ml.SVMClassifier": "train an MLPClassifier: microzo runs networks",
}
OTHERWISE = (
    "PyTorch: Conv, Linear, pools, activations, sums, cat; see docs/howto/import-your-model.md"
)
PASSED = {
    *"QuantizeLinear DequantizeLinear Identity Relu Clip Cast PRelu Slice Split Concat".split(),
    *float_functions.BINARY,
    *float_functions.CURVES,
}
IMAGE = ("Conv", "MaxPool", "AveragePool", "GlobalAveragePool", "BatchNormalization", "Pad")


@dataclasses.dataclass
class Imported:
    """A float network, and what the file says beyond it.

    ``order``: value number i of the file's sample is number order[i] of ours (h, w, c);
    ``ranges`` and ``weight_scales`` (by tensor and layer) come from QDQ nodes.
    """

    net: network.Network
    order: np.ndarray
    file_shape: tuple
    ranges: dict
    weight_scales: dict
    dropped: list


def import_network(path):
    """The float network of an ONNX file; everything unsupported is told in one ValueError."""
    with np.errstate(all="ignore"):  # what is no number is told below
        imported = from_graph(onnx_file.read(path), path)
    for layer in imported.net.layers:
        parts = [part for part in (layer.weight, layer.bias) if part is not None]
        if not all(np.isfinite(part).all() for part in parts):
            raise ValueError(
                f"{path}: layer {layer.name!r} has weights that are no numbers: export it again"
            )
    return imported


def from_graph(graph, path):
    """As import_network(), from what onnx_file.read() gave."""
    g = FloatGraph(graph, path)
    try:
        onnx_ends.check(graph)
        file_shape = _source(g)
        target, dropped = onnx_ends.target(graph)
    except Unsupported as problem:
        g.problems.add(problem)
        g.problems.raise_if_any()
    for node in _needed(graph, target):
        _convert(g, node)
    g.problems.raise_if_any()
    view = g.view(target) if target in g.views else None
    if view is None or not view.tensor:
        raise ValueError(f"{path} has no layer between its input and output: give a whole network")
    try:
        onnx_ends.one_class_a_sample(g, view, dropped)
    except Unsupported as problem:
        g.problems.add(problem)
        g.problems.raise_if_any()
    order = g.views[next(iter(graph.inputs))].order
    return _cut(
        g, view.tensor, Imported(None, order, file_shape, g.ranges, g.weight_scales, dropped)
    )


def _convert(g, node):
    if node.kind == "Constant":
        value = next((v for k, v in node.attributes.items() if k.startswith("value")), None)
        if value is not None:
            g.constants[node.outputs[0]] = np.asarray(value)
        return
    if node.kind == "Shape" and node.inputs[0] in g.views:
        g.constants[node.outputs[0]] = np.array(g.views[node.inputs[0]].shape, np.int64)
        return
    if node.kind in ("QuantizeLinear", "DequantizeLinear"):
        g.run(node, _quantization, "")
        return
    try:
        value = onnx_file.evaluate(node, g.constants)
    except Exception as error:  # the reference evaluator raises what it likes
        g.problems.add(
            f"{node.kind} {node.name!r} cannot be computed ({error.__class__.__name__})"
        )
        return
    if value is not None:
        g.constants[node.outputs[0]] = value
        return
    cure = CURES.get(node.kind, OTHERWISE)
    g.run(node, HANDLERS.get(node.kind), cure)


def _quantization(g, node):
    """QuantizeLinear and DequantizeLinear: ranges of activations, scales of weights."""
    scale = np.asarray(g.constant(node.inputs[1], "scale"), np.float32).reshape(-1)
    zero = np.zeros(1, np.int64)
    unsigned = node.kind == "QuantizeLinear"
    if len(node.inputs) > 2 and node.inputs[2]:
        raw = np.asarray(g.constant(node.inputs[2], "zero point"))
        unsigned, zero = raw.dtype == np.uint8, raw.astype(np.int64).reshape(-1)
    if not (np.isfinite(scale).all() and (scale > 0).all()):
        raise Unsupported("has a bad scale (export it again)")
    if node.inputs[0] not in g.constants:
        if scale.size != 1:
            raise Unsupported("quantizes an activation per channel (use one scale)")
        view = g.view(node.inputs[0])
        g.alias(node)
        g.ranges[view.tensor] = float(scale[0]), int(zero[0]) - (128 if unsigned else 0)
        if view.tensor and g.ranges[view.tensor][1] == -128:
            _restore_relu(g, g.layers[view.tensor - 1])
        return
    values = np.asarray(g.constants[node.inputs[0]])
    axis = int(node.attributes.get("axis", 1)) % max(values.ndim, 1)
    shape = [1] * values.ndim
    if scale.size > 1:
        if values.ndim == 0 or scale.size != values.shape[axis]:
            raise Unsupported(
                f"has {scale.size} scales for shape {values.shape} (export it again)"
            )
        shape[axis] = -1
    zero = np.broadcast_to(zero, scale.shape)
    if node.kind == "QuantizeLinear":
        low = 0 if unsigned else -128
        whole = np.rint(values / scale.reshape(shape)) + zero.reshape(shape)
        kind = np.uint8 if unsigned else np.int8
        g.constants[node.outputs[0]] = np.clip(whole, low, low + 255).astype(kind)
        return
    real = (values.astype(np.float32) - zero.reshape(shape)) * scale.reshape(shape)
    g.constants[node.outputs[0]] = real.astype(np.float32)
    if not zero.any():
        g.constant_scales[node.outputs[0]] = scale, axis


def _restore_relu(g, layer):
    """A range from 0 on stands for the ReLU that the quantizer left out before it."""
    if layer.activation == "none" and layer.kind in (*network.WEIGHTED, "add"):
        layer.activation = "relu"
        g.restored.append(layer)


def _source(g):
    """Declare the input; returns its shape in the file, without the batch."""
    inputs = g.graph.inputs
    if len(inputs) != 1:
        raise Unsupported(
            f"its inputs are {', '.join(map(repr, inputs)) or 'none'} (use exactly one)"
        )
    name, shape = next(iter(inputs.items()))
    dims = tuple(shape[1:])
    if shape and shape[0] not in (None, 1):
        raise Unsupported(
            f"it takes {shape[0]} samples of shape {dims} at a time (export it with a sample of "
            f"one, or with a dynamic batch)"
        )
    if not 1 <= len(dims) <= 3 or None in dims:
        raise Unsupported(f"its input {name!r} has shape {shape} (export it with a fixed size)")
    if int(np.prod(dims, dtype=np.int64)) > 1 << 22 or max(dims) > 65535:
        raise Unsupported(f"its input {name!r} has shape {shape} (use smaller samples)")
    identity = np.arange(int(np.prod(dims)), dtype=np.int32)
    if len(dims) == 1:
        g.source(name, (1, 1, *dims), identity, (1, *dims))
    elif not _reads_image(g, name):
        g.source(name, (*(1,) * (3 - len(dims)), *dims), identity, (1, *dims))
    else:
        ours = (1, dims[1], dims[0]) if len(dims) == 2 else (dims[1], dims[2], dims[0])
        g.source(name, ours, channels_first(*ours), (1, *dims))
    return dims


def _reads_image(g, name):
    """Whether an operator on images is the first that minds how the input lies."""
    names, seen = [name], set()
    while names and len(seen) < 64:
        name = names.pop()
        for node in g.readers.get(name, ()):
            if node.kind in IMAGE:
                return True
            if node.kind in PASSED and node.outputs[0] not in seen:
                seen.add(node.outputs[0])
                names += node.outputs
    return False


def _needed(graph, target):
    wanted, nodes = {target}, []
    for node in reversed(graph.nodes):
        if wanted.intersection(node.outputs):
            nodes.append(node)
            wanted.update(node.inputs)
    return nodes[::-1]


def _cut(g, last, imported):
    """Fold pads into convolutions, leave out layers that nothing needs, number the rest anew."""
    layers = g.layers
    for layer in layers:
        source = layer.inputs[0]
        before = layers[source - 1] if source else None
        if before is None or before.kind != "pad" or before.activation != "none":
            continue
        pads = tuple(a + b for a, b in zip(before.pads, layer.pads))
        kernel = layer.kernel if layer.weight is None else layer.weight.shape[1:3]
        reach = [(k - 1) * d + 1 for k, d in zip(kernel, layer.dilation)]
        fits = max(pads[:2]) < reach[0] and max(pads[2:]) < reach[1] and min(before.pads) >= 0
        if layer.kind in ("conv", "depthwise") and fits:
            layer.pads, layer.inputs = pads, before.inputs
    needed, tensors = set(), [last]
    while tensors:
        t = tensors.pop()
        if t and t not in needed:
            needed.add(t)
            tensors += layers[t - 1].inputs
    number = {0: 0} | {t: i + 1 for i, t in enumerate(sorted(needed))}
    kept = [layers[t - 1] for t in sorted(needed)]
    for layer in kept:
        layer.inputs = tuple(number[t] for t in layer.inputs)
    shapes = [g.shapes[0], *(g.shapes[t] for t in sorted(needed))]
    if any(kept[-1] is layer for layer in g.restored):
        kept[-1].activation = "none"  # logits are what they are
    onnx_ends.finish(kept, shapes, imported.dropped)
    imported.net = network.Network(g.shapes[0], kept, "imported")
    imported.ranges = {number[t]: r for t, r in g.ranges.items() if t in number}
    scales = {number[i + 1] - 1: s for i, s in g.weight_scales.items() if i + 1 in number}
    # onnx_ends.finish() gives one sigmoid's layer a second row.
    imported.weight_scales = {i: np.resize(s, len(kept[i].weight)) for i, s in scales.items()}
    return imported
