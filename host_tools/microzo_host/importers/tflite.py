"""Import of int8 TFLite models, bit for bit equal to LiteRT's reference kernels (BUILTIN_REF)."""

import re

import numpy as np

from ..model import file as modelfile
from ..model import quantize
from . import (
    binary,
    cuts,
    ends,
    finish,
    functions,
    grouped,
    heads,
    reductions,
    tflite_file,
    tflite_fold,
    tflite_rewrite,
    views,
    weighted,
)
from .lowering import Lowering
from .problems import Problems, Unsupported

ONE_VALUE = (
    "RELU RELU6 RELU_N1_TO_1 LEAKY_RELU LOGISTIC TANH HARD_SWISH QUANTIZE DEQUANTIZE EXP LOG "
    "SQRT RSQRT ELU GELU ABS NEG SQUARE SIN COS"
).split()
# By operator: (function, inputs it needs).
HANDLERS = {
    "CONV_2D": (grouped.convolution, 2),
    "DEPTHWISE_CONV_2D": (weighted.depthwise, 2),
    "FULLY_CONNECTED": (weighted.dense, 2),
    "BATCH_MATMUL": (weighted.matmul, 2),
    "ADD": (binary.add, 2),
    "SUB": (binary.add, 2),
    "MUL": (binary.mul, 2),
    "CONCATENATION": (binary.concatenate, 1),
    "MAXIMUM": (binary.maximum, 2),
    "MINIMUM": (binary.maximum, 2),
    "MEAN": (reductions.mean, 2),
    "REDUCE_MAX": (reductions.largest, 2),
    "AVERAGE_POOL_2D": (reductions.pool, 1),
    "MAX_POOL_2D": (reductions.pool, 1),
    "PAD": (cuts.pad, 2),
    "PADV2": (cuts.pad, 3),
    "STRIDED_SLICE": (cuts.strided_slice, 4),
    "SLICE": (cuts.slice_, 3),
    "SPLIT": (cuts.split, 2),
    "SPLIT_V": (cuts.split_v, 3),
    "RESHAPE": (views.reshape, 1),
    "SQUEEZE": (views.reshape, 1),
    "EXPAND_DIMS": (views.reshape, 1),
    "TRANSPOSE": (views.transpose, 2),
    "PRELU": (functions.prelu, 2),
    **dict.fromkeys(ONE_VALUE, (functions.unary, 1)),
    **dict.fromkeys((*functions.COMPARISONS, "DIV", "POW"), (functions.only_of_one, 2)),
    **dict.fromkeys(("SELECT", "SELECT_V2"), (functions.only_of_one, 3)),
}
NORM = "use BatchNormalization, which is folded, not LayerNormalization or GroupNormalization"
RESIZE = "resize on the PC, before the samples are sent, or use Conv2D with strides"
SVDF = "a memory over time: use DepthwiseConv1D and Conv1D over a window of time"
RECURRENT = "an LSTM, GRU or RNN: use causal Conv1D layers with dilation over time"
CURES = {
    "TRANSPOSE_CONV": "Conv2DTranspose: train the encoder alone, or upsample on the PC",
    "RESIZE_BILINEAR": RESIZE,
    "RESIZE_NEAREST_NEIGHBOR": RESIZE,
    "TILE": RESIZE,
    "UNPACK": RECURRENT,
    "FILL": RECURRENT,
    "WHILE": RECURRENT,
    "LSTM": RECURRENT,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": RECURRENT,
    "BIDIRECTIONAL_SEQUENCE_LSTM": RECURRENT,
    "UNIDIRECTIONAL_SEQUENCE_RNN": RECURRENT,
    "RNN": RECURRENT,
    "SVDF": SVDF,
    "SOFTMAX": "attention, or a softmax inside: keep it at the end only, where it is dropped",
    "L2_NORMALIZATION": "leave it out: a Dense layer behind it learns the same",
    "SQUARED_DIFFERENCE": NORM,
    "SUM": "use GlobalAveragePooling, which is the sum but for a factor",
    "REDUCE_PROD": "use GlobalAveragePooling",
    "REDUCE_MIN": "use GlobalMaxPooling",
    "ARG_MAX": "leave it out: microzo takes the largest output itself",
    "TOPK_V2": "leave it out: microzo takes the largest output itself",
    "EMBEDDING_LOOKUP": "an Embedding: look it up on the PC and send its values",
    "GATHER": "an Embedding, or values picked by an index: use Dense or Conv1D",
    "SPACE_TO_DEPTH": "use Conv2D with strides",
    "DEPTH_TO_SPACE": RESIZE,
    "SPACE_TO_BATCH_ND": "a dilation with other steps between: use Conv2D(dilation_rate)",
    "BATCH_TO_SPACE_ND": "a dilation with other steps between: use Conv2D(dilation_rate)",
    "REVERSE_V2": "turn the samples round on the PC",
    "MIRROR_PAD": "use ZeroPadding2D or padding='same'",
    "CONV_3D": "use Conv2D",
    "CUMSUM": "use causal Conv1D layers",
    "CAST": "convert with full integer quantization, int8 in and out",
    "RFFT2D": "compute the spectrum on the PC or the board and send it as samples",
    "LOCAL_RESPONSE_NORMALIZATION": NORM,
}
OTHERWISE = (
    "Keras: Conv, Dense, pooling, Add, Concatenate, activations; "
    "see docs/howto/import-your-model.md"
)


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
        _no_memory(graph)
        tflite_fold.fold(graph)
        tflite_rewrite.dilated(graph)
        core = ends.find(graph)
        lowering = Lowering(graph, core, path)
    except Unsupported as problem:
        problems.add(problem)
        problems.raise_if_any()
    lowering.run(HANDLERS, lambda kind: CURES.get(kind, OTHERWISE))
    if not lowering.ops:
        raise ValueError(f"{path} has no layer between its input and output: give a whole network")
    model = _model(lowering, path)
    heads.dense(model.ops[-1])
    if core.sigmoid and model.classes == 1:
        heads.two_classes(model)
        lowering.sources.extend([None] * (len(model.ops) - len(lowering.sources)))
    finish.names(model, [short_name(graph, i) for i in lowering.sources])
    finish.limits(model, problems)
    problems.raise_if_any()
    _describe(model, lowering, problems)
    problems.raise_if_any()
    if calib is not None:
        raw = finish.samples(model, calib)
        quantize.store_statistics(model, raw)
    modelfile.check(model, path)
    return model


def _no_memory(graph):
    """Unsupported, with nothing else said, if layers remember what they saw before."""
    kinds = sorted(
        {node.kind for node in graph.nodes if CURES.get(node.kind) in (RECURRENT, SVDF)}
    )
    kinds = [kind for kind in kinds if kind not in ("UNPACK", "FILL")]
    if kinds:
        raise Unsupported(f"it has {' and '.join(kinds)} ({CURES[kinds[0]]})")


def _model(lowering, path):
    core, source = lowering.core, lowering.quantized(lowering.core.source)
    h, w, c = lowering.shape_in
    view = lowering.view(core.target)
    if any(view.pads) or view.order is not None or view.tensor != lowering.ops[-1].out:
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
        f"{kind} at the end is left out: {_instead(model, kind)}"
        for kind in core.dropped
        if kind in ends.CLASSIFIERS
    ]
    foreign = None
    if core.order is not None:
        shape = lowering.graph.tensors[lowering.graph.inputs[0]].shape
        foreign = tuple(shape[1:]), core.order
        notes.append(f"samples are given as (h, w, c) = {(model.in_h, model.in_w, model.in_c)}")
    regression = not core.dropped_classifier and (
        model.classes == model.in_h * model.in_w * model.in_c
    )
    if model.classes == 1:
        notes.append(finish.ONE_OUTPUT)
    notes += [finish.FROZEN.format(op.name, op.row) for op in model.ops if op.abs_sum]
    notes += [
        finish.INEXACT.format(model.ops[i].name, n) for i, n in lowering.inexact.items() if n
    ]
    try:
        _logits(model, lowering, regression)
    except ValueError as error:
        problems.add(f"its logits cannot be scaled: {error}")
    model.metadata = finish.metadata(
        model, "tflite", notes, foreign,
        task="regression" if regression else "classification",
        tensors=lowering.sources,
    )  # fmt: skip


def _instead(model, kind):
    """What takes the place of a classifier that is left out."""
    if kind != "LOGISTIC":
        return "the loss takes logits"
    if model.classes == 2 and not model.ops[-1].weight[0].any():
        return finish.TWO_CLASSES
    return finish.SEVERAL_LABELS


def _logits(model, lowering, regression):
    """From the last accumulators if the last operator is a linear layer of a classifier."""
    op = model.ops[-1]
    linear = op.kind in modelfile.WEIGHTED and (op.act_min, op.act_max) == (-128, 127)
    emit = linear and (op.out_h, op.out_w) == (1, 1) and not regression
    effective = None
    if emit:
        effective = _effective(model, lowering)
    finish.logits(model, effective, emit, lowering.core.beta)


def _effective(model, lowering):
    """float64 (classes,): what one unit of the last accumulators stands for."""
    op = model.ops[-1]
    if lowering.sources[-1] is None:  # heads.two_classes() appended it
        return np.full(op.out_c, model.scales[op.in1] / 64)
    node = next(n for n in lowering.core.nodes if lowering.sources[-1] in n.outputs)
    effective = weighted.effective_scales(lowering, node) * model.scales[model.out_tensor]
    effective = effective * lowering.changed.get(op.tid, 1.0)
    return np.broadcast_to(effective, op.out_c) if len(effective) == 1 else effective


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
