"""Small .tflite files built by hand, and LiteRT's reference interpreter to run them."""

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

DTYPES = {
    "INT16": np.int16, "INT8": np.int8, "INT32": np.int32, "UINT8": np.uint8,
    "FLOAT32": np.float32,
}  # fmt: skip
OPTIONS = {
    "CONV_2D": "Conv2DOptions", "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions",
    "FULLY_CONNECTED": "FullyConnectedOptions", "ADD": "AddOptions", "SUB": "SubOptions",
    "MUL": "MulOptions", "AVERAGE_POOL_2D": "Pool2DOptions", "MAX_POOL_2D": "Pool2DOptions",
    "MEAN": "ReducerOptions", "RESHAPE": "ReshapeOptions", "SOFTMAX": "SoftmaxOptions",
    "CONCATENATION": "ConcatenationOptions", "SQUEEZE": "SqueezeOptions",
    "LEAKY_RELU": "LeakyReluOptions", "STRIDED_SLICE": "StridedSliceOptions",
    "PACK": "PackOptions", "GATHER": "GatherOptions", "REDUCE_PROD": "ReducerOptions",
    "REDUCE_MAX": "ReducerOptions", "GELU": "GeluOptions", "SPLIT": "SplitOptions",
    "BATCH_MATMUL": "BatchMatMulOptions", "SHAPE": "ShapeOptions",
}  # fmt: skip
VERSIONS = {
    "CONV_2D": 3,
    "DEPTHWISE_CONV_2D": 3,
    "FULLY_CONNECTED": 4,
    "RESHAPE": 1,
    "SQUEEZE": 1,
    "HARD_SWISH": 1,
    "RELU_N1_TO_1": 1,
    "SHAPE": 1,
    "EXPAND_DIMS": 1,
    "GATHER": 1,
    "PACK": 2,
    "SELECT_V2": 1,
    "PRELU": 1,
}


class Builder:
    """Collects tensors and operators, then packs them as a file."""

    def __init__(self):
        self.tensors, self.nodes, self.codes = [], [], []
        self.buffers = [schema.BufferT()]
        self.inputs, self.outputs = [], []
        self.versions = {getattr(schema.BuiltinOperator, n): v for n, v in VERSIONS.items()}

    def tensor(self, shape, scale=None, zero_point=0, data=None, dtype="INT8", axis=0, name=None):
        """Add a tensor, constant if ``data`` is given; returns its index."""
        t = schema.TensorT()
        t.shape, t.type = list(shape), getattr(schema.TensorType, dtype)
        t.name = (name or f"t{len(self.tensors)}").encode()
        t.buffer = 0
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(
                np.ascontiguousarray(data, DTYPES[dtype]).tobytes(), np.uint8
            )
            t.buffer = len(self.buffers)
            self.buffers.append(buffer)
        if scale is not None:
            q = schema.QuantizationParametersT()
            q.scale = np.atleast_1d(np.asarray(scale, np.float32))
            q.zeroPoint = np.broadcast_to(np.asarray(zero_point, np.int64), q.scale.shape).copy()
            q.quantizedDimension = axis
            t.quantization = q
        self.tensors.append(t)
        return len(self.tensors) - 1

    def op(self, name, inputs, output, **options):
        """Add an operator; ``options`` by the schema's field names."""
        node = schema.OperatorT()
        code = getattr(schema.BuiltinOperator, name, name)  # any other name: a custom operator
        if code not in self.codes:
            self.codes.append(code)
        node.opcodeIndex = self.codes.index(code)
        outputs = output if isinstance(output, list) else [output]
        node.inputs, node.outputs = list(inputs), outputs
        if name in OPTIONS:
            node.builtinOptionsType = getattr(schema.BuiltinOptions, OPTIONS[name])
            node.builtinOptions = getattr(schema, OPTIONS[name] + "T")()
            for key, value in options.items():
                assert hasattr(node.builtinOptions, key), key
                setattr(node.builtinOptions, key, value)
        self.nodes.append(node)
        return output

    def pack(self):
        """The bytes of the file."""
        graph = schema.SubGraphT()
        graph.tensors, graph.operators = self.tensors, self.nodes
        graph.inputs, graph.outputs, graph.name = self.inputs, self.outputs, b"main"
        model = schema.ModelT()
        model.version, model.subgraphs, model.buffers = 3, [graph], self.buffers
        model.description = b"test"
        model.operatorCodes = []
        for code in self.codes:
            c = schema.OperatorCodeT()
            if isinstance(code, str):
                code, c.customCode = schema.BuiltinOperator.CUSTOM, code.encode()
            c.builtinCode, c.deprecatedBuiltinCode = code, min(code, 127)
            c.version = self.versions.get(code, 2)
            model.operatorCodes.append(c)
        builder = flatbuffers.Builder(1 << 16)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


class Reference:
    """LiteRT's reference resolver on one file."""

    def __init__(self, content):
        self.interpreter = Interpreter(
            model_content=content,
            experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
            experimental_preserve_all_tensors=True,
            num_threads=1,
        )
        self.interpreter.allocate_tensors()
        self.source = self.interpreter.get_input_details()[0]

    def __call__(self, x, tensor=None):
        """The tensor with this index (default: the output) for one sample."""
        if tensor is None:
            tensor = self.interpreter.get_output_details()[0]["index"]
        shape, dtype = self.source["shape"], self.source["dtype"]
        self.interpreter.set_tensor(self.source["index"], np.asarray(x, dtype).reshape(shape))
        self.interpreter.invoke()
        return self.interpreter.get_tensor(tensor)
