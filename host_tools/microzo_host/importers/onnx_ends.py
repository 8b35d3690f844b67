"""Where the network of an ONNX file ends, and what the file is if it is none for us."""

import numpy as np

from .problems import Unsupported

CLASSIFIERS = ("Softmax", "LogSoftmax", "Sigmoid")
MAPS = ("ai.onnx.ml.ZipMap", "ai.onnx.ml.Normalizer")
THROUGH = "QuantizeLinear DequantizeLinear Identity Flatten Reshape Squeeze Cast".split()
QOPERATOR = (
    "is quantized in the QOperator format (quantize it with quant_format=QuantFormat.QDQ in "
    "onnxruntime.quantization.quantize_static, or give the float file)"
)
DYNAMIC = (
    "is quantized dynamically (use onnxruntime.quantization.quantize_static with "
    "quant_format=QuantFormat.QDQ, or give the float file)"
)


def check(graph):
    """Unsupported if operators tell that the file is of another kind as a whole."""
    kinds = {node.kind for node in graph.nodes}
    if kinds & {"DynamicQuantizeLinear", "ConvInteger", "MatMulInteger"}:
        raise Unsupported(f"it {DYNAMIC}")
    for kind in sorted(kinds):
        if kind.split(".")[-1].startswith(("QLinear", "QGemm")):
            raise Unsupported(f"it {QOPERATOR}; {kind} is of that format")


def target(graph):
    """(name of the logits, kinds of the classifiers that were dropped after them)."""
    writers = {name: node for node in graph.nodes for name in node.outputs}
    name = _probabilities(graph, writers)
    result, dropped = name, []
    for _ in range(len(graph.nodes)):
        node = writers.get(name)
        if node is None or not node.inputs:
            break
        pair = _of_two(node, writers, graph.constants)
        if pair is not None:
            return pair, ["Sigmoid"]
        if node.kind not in (*CLASSIFIERS, *MAPS, *THROUGH):
            break
        name = node.inputs[0]
        if node.kind in CLASSIFIERS:
            result = name
            dropped.append(node.kind)
        elif node.kind in MAPS:
            result = name
    return result, dropped


def _probabilities(graph, writers):
    """The one output, or that of the probabilities beside labels (scikit-learn)."""
    outputs = graph.outputs
    if len(outputs) == 2:
        rest = [name for name in outputs if not _is_label(name, writers)]
        if len(rest) == 1:
            return rest[0]
    if len(outputs) != 1:
        raise Unsupported(f"its outputs are {', '.join(map(repr, outputs))} (use exactly one)")
    return outputs[0]


def _is_label(name, writers):
    """Whether an output is the class itself."""
    for _ in range(8):
        node = writers.get(name)
        if node is None or not node.inputs:
            return False
        if node.kind in ("ArgMax", "ai.onnx.ml.ArrayFeatureExtractor", "ai.onnx.ml.LabelEncoder"):
            return True
        if node.kind not in ("Reshape", "Cast", "Identity", "Squeeze"):
            return False
        name = node.inputs[0]
    return False


def _of_two(node, writers, constants):
    """The logit z, if a node joins (1 - sigmoid(z), sigmoid(z))."""
    if node.kind != "Concat" or len(node.inputs) != 2:
        return None
    first, second = (writers.get(i) for i in node.inputs)
    if first is None or second is None or first.kind != "Sub" or second.kind != "Sigmoid":
        return None
    one = constants.get(first.inputs[0])
    if one is None or np.asarray(one).reshape(-1).tolist() != [1]:
        return None
    return second.inputs[0] if first.inputs[1] == second.outputs[0] else None


def one_class_a_sample(g, view, dropped):
    """Unsupported if the network answers at many places."""
    h, w, c = g.shapes[view.tensor]
    answers = [n for n in view.shape[1:] if n > 1]
    if len(answers) > 1 and len(view.order) != len(g.views[next(iter(g.graph.inputs))].order):
        raise Unsupported(
            f"it gives {c} values at each of {h * w} places, {view.shape} (a detector or a "
            f"segmentation, not {len(view.order)} classes: microzo trains one class a sample, so "
            f"end it with a global average pool and a linear layer)"
        )
    if not np.array_equal(view.order, np.arange(len(view.order))):
        raise Unsupported(
            f"it ends in {view.shape} in another order than {(h, w, c)} (flatten before a last "
            f"linear layer)"
        )


def finish(layers, shapes, dropped):
    """Make the last of ``layers`` a dense one with a logit a class; ``shapes``: of tensors."""
    layer = layers[-1]
    whole = layer.kind == "conv" and layer.weight.shape[1:3] == shapes[layer.inputs[0]][:2]
    if whole and not any(layer.pads):
        layer.kind, layer.weight = "dense", layer.weight.reshape(len(layer.weight), 1, 1, -1)
        layer.stride = layer.dilation = (1, 1)
    one = layer.kind == "dense" and len(layer.weight) == 1 and layer.activation == "none"
    if "Sigmoid" in dropped and one:
        # The logits 0 and z: softmax of them is (1 - sigmoid(z), sigmoid(z)).
        layer.weight = np.concatenate([np.zeros_like(layer.weight), layer.weight])
        layer.bias = np.concatenate([np.zeros(1, np.float32), layer.bias])
