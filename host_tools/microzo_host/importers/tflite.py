"""Import of int8 TFLite models, bit for bit equal to LiteRT's reference kernels (BUILTIN_REF)."""

import re

from ..model import file as modelfile
from ..model import quantize
from . import binary, ends, finish, plain, tflite_file, weighted
from .lowering import Lowering
from .problems import Problems, Unsupported

# By operator: (function, inputs it needs).
HANDLERS = {
    "CONV_2D": (weighted.conv, 2),
    "DEPTHWISE_CONV_2D": (weighted.depthwise, 2),
    "FULLY_CONNECTED": (weighted.dense, 2),
    "ADD": (binary.add, 2),
    "SUB": (binary.add, 2),
    "MUL": (binary.mul, 2),
    "CONCATENATION": (binary.concatenate, 1),
    "MEAN": (plain.mean, 2),
    "AVERAGE_POOL_2D": (plain.pool, 1),
    "MAX_POOL_2D": (plain.pool, 1),
    "PAD": (plain.pad, 2),
    "PADV2": (plain.pad, 3),
    "RESHAPE": (plain.reshape, 1),
    "SQUEEZE": (plain.reshape, 1),
    "EXPAND_DIMS": (plain.reshape, 1),
    "TRANSPOSE": (plain.transpose, 2),
    "RELU": (plain.relu, 1),
    "RELU6": (plain.relu, 1),
    "RELU_N1_TO_1": (plain.relu, 1),
    "LEAKY_RELU": (plain.leaky_relu, 1),
    "LOGISTIC": (plain.curve, 1),
    "TANH": (plain.curve, 1),
    "HARD_SWISH": (plain.curve, 1),
    "QUANTIZE": (plain.requantize, 1),
}
CURES = {
    "TRANSPOSE_CONV": "train the encoder alone, or upsample on the host",
    "RESIZE_BILINEAR": "resize on the host, before the samples are sent",
    "RESIZE_NEAREST_NEIGHBOR": "resize on the host, before the samples are sent",
    "UNIDIRECTIONAL_SEQUENCE_LSTM": "use convolutions over time instead",
    "LSTM": "use convolutions over time instead",
    "SVDF": "use depthwise convolutions over time instead",
    "BATCH_MATMUL": "use a dense layer",
    "DEQUANTIZE": "convert with full integer quantization, so that no float layer is left",
    "SOFTMAX": "keep it at the end only, where it is dropped",
    "SPLIT": "use two convolutions",
    "CONV_3D": "use 2-D convolutions",
}


def import_tflite(path, calib=None):
    """Read a fully quantized int8 .tflite file as a ``modelfile.Model``.

    Floats or uint8 may stand around the int8 core. ``calib``: clean samples
    (N, h, w, c) as uint8, int8 or floats, whose statistics realign needs.
    Everything unsupported is told at once, in one ValueError.
    """
    return from_graph(tflite_file.read(path), path, calib)


def from_graph(graph, path, calib=None):
    """As import_tflite(), from what tflite_file.read() gave."""
    problems = Problems(path)
    try:
        core = ends.find(graph)
        lowering = Lowering(graph, core, path)
    except Unsupported as problem:
        problems.add(problem)
        problems.raise_if_any()
    lowering.run(
        HANDLERS,
        lambda kind: CURES.get(
            kind, "see docs/howto/import-your-model.md for what can replace it"
        ),
    )
    if not lowering.ops:
        raise ValueError(f"{path} has no layer between its input and output: give a whole network")
    model = _model(lowering, path)
    finish.names(model, [short_name(graph, i) for i in lowering.sources])
    finish.limits(model, problems)
    problems.raise_if_any()
    _describe(model, lowering, problems)
    problems.raise_if_any()
    if calib is not None:
        raw = finish.samples(model, calib, model.scales[model.in_tensor])
        quantize.store_statistics(model, raw)
    modelfile.check(model, path)
    return model


def _model(lowering, path):
    core, source = lowering.core, lowering.quantized(lowering.core.source)
    h, w, c = lowering.shape_in
    view = lowering.views[core.target]
    if any(view.pads) or view.tensor != lowering.ops[-1].out:
        raise ValueError(f"{path} does not end in a layer: give a whole network")
    return modelfile.Model(
        h, w, c,
        classes=lowering.tensor(core.target).size,
        in_zp=int(source.zero_points[0]),
        table=core.table,
        ops=lowering.ops,
        n_tensors=len(lowering.scales),
        out_tensor=lowering.ops[-1].out,
        scales=lowering.scales,
    )  # fmt: skip


def _describe(model, lowering, problems):
    """Logits and metadata."""
    core = lowering.core
    notes = [
        f"{kind} at the end is left out: the loss takes logits"
        for kind in core.dropped
        if kind in ends.CLASSIFIERS
    ]
    if core.order is not None:
        notes.append(f"samples are given as (h, w, c) = {(model.in_h, model.in_w, model.in_c)}")
    regression = not notes and model.classes == model.in_h * model.in_w * model.in_c
    try:
        _logits(model, lowering, regression)
    except ValueError as error:
        problems.add(f"its logits cannot be scaled: {error}")
    model.metadata = finish.metadata(
        model, "tflite", notes,
        task="regression" if regression else "classification",
        tensors=lowering.sources,
    )  # fmt: skip


def _logits(model, lowering, regression):
    """From the last accumulators if the last operator is a linear layer of a classifier."""
    op = model.ops[-1]
    linear = op.kind in modelfile.WEIGHTED and (op.act_min, op.act_max) == (-128, 127)
    emit = linear and (op.out_h, op.out_w) == (1, 1) and not regression
    effective = None
    if emit:
        node = next(n for n in lowering.core.nodes if lowering.sources[-1] in n.outputs)
        effective = weighted.effective_scales(lowering, node) * model.scales[model.out_tensor]
    finish.logits(model, effective, emit, lowering.core.beta)


def short_name(graph, number):
    """The layer's own name out of a tensor name such as ``model/conv2d/BiasAdd;model/...``."""
    if number is None:
        return ""
    parts = graph.tensors[number].path.split(";")
    for pattern in (r"([^/]+)/BiasAdd", r"([^/]+)/(?:Conv2D|depthwise|MatMul)\d*"):
        for part in parts:
            found = re.search(pattern + "$", part)
            if found:
                return found[1]
    pieces = [piece for piece in parts[0].split("/") if piece]
    return re.sub(r"[^\w.-]", "_", "/".join(pieces[-2:]).replace("/", "."))[:48]
