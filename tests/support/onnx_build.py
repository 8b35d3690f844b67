"""Small ONNX files built by hand, and onnxruntime to run them."""

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


class Builder:
    """Nodes in a chain: ``x`` is the name that the next node reads."""

    def __init__(self, shape, seed=0, opset=17):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants = [], []
        self.shape, self.opset = shape, opset
        self.x = "input"

    def constant(self, value, dtype=np.float32):
        """Name of a new initializer."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def weights(self, *shape):
        fan = np.prod(shape[1:]) or 1
        return self.rng.normal(0, (2 / fan) ** 0.5, shape).astype(np.float32)

    def op(self, kind, *inputs, **attributes):
        """Append a node that reads ``x`` (or ``inputs`` alone if they begin with None)."""
        inputs = list(inputs[1:]) if inputs and inputs[0] is None else [self.x, *inputs]
        self.x = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [self.x], name=self.x, **attributes))
        return self.x

    def conv(self, channels, inside, kernel=(3, 3), group=1, **attributes):
        w = self.constant(self.weights(channels, inside // group, *kernel))
        b = self.constant(self.rng.normal(0, 0.1, channels))
        return self.op("Conv", w, b, kernel_shape=list(kernel), group=group, **attributes)

    def norm(self, channels):
        parts = [self.rng.uniform(0.5, 1.5, channels) for _ in range(4)]
        return self.op("BatchNormalization", *map(self.constant, parts))

    def dense(self, channels, inside):
        w = self.constant(self.weights(channels, inside))
        return self.op("Gemm", w, self.constant(self.rng.normal(0, 0.1, channels)), transB=1)

    def pack(self):
        """The file; the last node is the output."""
        shape = ["n", *self.shape]
        source = helper.make_tensor_value_info("input", TensorProto.FLOAT, shape)
        target = helper.make_tensor_value_info(self.x, TensorProto.FLOAT, ["n", "classes"])
        graph = helper.make_graph(self.nodes, "net", [source], [target], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])
        model.ir_version = 9
        onnx.checker.check_model(model)
        return model.SerializeToString()


def run(content, x):
    """The output of onnxruntime, sample by sample, flat."""
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return np.stack([session.run(None, {name: v[None]})[0].reshape(-1) for v in x])


def from_tflite(graph):
    """The float network that an int8 TFLite graph of convolutions and sums stands for, as ONNX."""
    b = Builder([32, 32, 3])
    b.op("Transpose", perm=[0, 3, 1, 2])
    names = {graph.inputs[0]: b.x}
    for node in graph.nodes:
        if node.kind == "SOFTMAX":
            break
        b.x = names[node.inputs[0]]
        if node.kind in ("CONV_2D", "FULLY_CONNECTED"):
            _weighted(b, graph, node)
        elif node.kind == "ADD":
            b.op("Add", names[node.inputs[1]])
        elif node.kind == "AVERAGE_POOL_2D":
            b.op("GlobalAveragePool")
        else:
            b.op("Flatten")
        if node.options.get("FusedActivationFunction"):
            b.op("Relu")
        names[node.outputs[0]] = b.x
    return b.pack()


def _weighted(b, graph, node):
    tensors = [graph.tensors[i] for i in node.inputs]
    x, w, bias = tensors
    scales = w.scales.reshape(-1, *(1,) * (len(w.shape) - 1))
    weight = w.array().astype(np.float32) * scales
    bias = bias.array() * (x.scales[0] * w.scales)
    if node.kind == "FULLY_CONNECTED":
        b.op("Gemm", b.constant(weight), b.constant(bias), transB=1)
        return
    stride = [node.options["StrideH"], node.options["StrideW"]]
    b.op(
        "Conv", b.constant(weight.transpose(0, 3, 1, 2)), b.constant(bias),
        strides=stride, auto_pad="SAME_UPPER", kernel_shape=list(w.shape[1:3]),
    )  # fmt: skip
