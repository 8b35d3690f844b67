"""ONNX operators of every kind: the float network is the file's, int8 keeps at least 35 dB."""

import math
import random
import time

import numpy as np
import pytest

from microzo_host.importers import finish, import_model, onnx_file
from microzo_host.importers import onnx_network as importer
from microzo_host.model import encode, network
from microzo_host.reference import batch, compare

onnx = pytest.importorskip("onnx", reason="the package onnx reads the files")
pytest.importorskip("onnxruntime", reason="onnxruntime is the reference")
from onnx_build import Builder, run  # noqa: E402

SHAPE = (4, 9, 8)
ENOUGH = 35  # dB


def check(b, shape=SHAPE, path=None):
    """Float network as onnxruntime; with ``path`` also the int8 model. Returns the kinds."""
    content = b.pack()
    result = importer.from_graph(onnx_file.parse(content, "net.onnx"), "net.onnx")
    x = np.random.default_rng(1).uniform(0, 1, (24, *shape)).astype(np.float32)
    ours = np.empty((len(x), len(result.order)), np.float32)
    ours[:, result.order] = x.reshape(len(x), -1)
    ours = ours.reshape(-1, *result.net.input_shape)
    got = network.forward(result.net, ours[:4])[-1].reshape(4, -1)
    np.testing.assert_allclose(got, run(content, x[:4]), rtol=1e-4, atol=2e-5)
    if path is not None:
        path.write_bytes(content)
        model = import_model(path, x)
        rows = compare.compare(model, result.net, x[:8])
        assert rows[-1].snr > ENOUGH, rows
        assert (finish.samples(model, x) == encode.encode(model, ours).raw).all()
    return [layer.kind for layer in result.net.layers]


def classifier(b, channels):
    b.op("GlobalAveragePool")
    b.op("Flatten")
    b.dense(3, channels)
    return b


FUNCTIONS = [
    ("LeakyRelu", {"alpha": 0.2}), ("Elu", {}), ("Selu", {}), ("Celu", {"alpha": 0.5}),
    ("Sigmoid", {}), ("Tanh", {}), ("HardSigmoid", {}), ("HardSwish", {}), ("Softplus", {}),
    ("Softsign", {}), ("Mish", {}), ("ThresholdedRelu", {"alpha": 0.1}), ("Abs", {}),
]  # fmt: skip


@pytest.mark.parametrize("kind, attributes", FUNCTIONS)
def test_functions_of_one_value(kind, attributes, tmp_path):
    b = Builder(SHAPE, opset=18)
    b.conv(5, 4)
    b.op(kind, **attributes)
    assert check(classifier(b, 5), path=tmp_path / "net.onnx")[1] == "function"


def test_a_gelu_of_old_exports_is_one_function(tmp_path):
    """x * 0.5 * (1 + erf(x / sqrt 2))"""
    b = Builder(SHAPE)
    x = b.conv(5, 4)
    b.op("Div", b.constant(math.sqrt(2)))
    b.op("Erf")
    b.op("Add", b.constant(1.0))
    b.op("Mul", x)
    b.op("Mul", b.constant(0.5))
    kinds = check(classifier(b, 5), path=tmp_path / "net.onnx")
    assert kinds == ["conv", "function", "mean", "dense"]


def test_limits_of_any_size():
    b = Builder(SHAPE)
    b.conv(5, 4)
    b.op("Clip", b.constant(-0.3), b.constant(0.4))
    assert check(classifier(b, 5)) == ["conv", "mean", "dense"]


@pytest.mark.parametrize("slopes", [[1], [5, 1, 1]])
def test_prelu(slopes, tmp_path):
    b = Builder(SHAPE)
    b.conv(5, 4)
    b.op("PRelu", b.constant(b.rng.uniform(0.1, 0.5, slopes)))
    check(classifier(b, 5), path=tmp_path / "net.onnx")


@pytest.mark.parametrize("kind", ["Add", "Sub", "Mul", "Max", "Min"])
def test_two_activations(kind, tmp_path):
    b = Builder(SHAPE)
    first = b.conv(5, 4)
    b.x = "input"
    b.conv(5, 4)
    b.op(kind, first)
    check(classifier(b, 5), path=tmp_path / "net.onnx")


def test_a_squeeze_and_excite_block(tmp_path):
    b = Builder(SHAPE)
    b.conv(6, 4)
    x = b.op("Relu")
    b.op("GlobalAveragePool")
    b.conv(2, 6, (1, 1))
    b.op("Relu")
    b.conv(6, 2, (1, 1))
    b.op("Sigmoid")
    b.op("Mul", x)
    check(classifier(b, 6), path=tmp_path / "net.onnx")


@pytest.mark.parametrize("axis, size", [(1, (1, 1)), (2, (3, 1)), (3, (1, 2))])
def test_concatenation(axis, size, tmp_path):
    b = Builder(SHAPE)
    first = b.conv(5, 4, (3, 3))
    b.x = "input"
    second = b.conv(5, 4, (3, 3))
    b.op("Relu")
    b.op("Concat", first, second, axis=axis)
    b.op("Relu")
    b.op("MaxPool", kernel_shape=list(size))
    channels = 15 if axis == 1 else 5
    check(classifier(b, channels), path=tmp_path / "net.onnx")


def test_concatenation_of_flat_tensors():
    b = Builder(SHAPE)
    b.conv(3, 4)
    first = b.op("Flatten")
    b.x = "input"
    b.conv(2, 4, (9, 8))
    b.op("Flatten")
    b.op("Concat", first, axis=1)
    b.dense(3, 3 * 42 + 2)
    check(b)


@pytest.mark.parametrize("axes", [[(3,), (2,)], [(2,), (2,)], [(2, 3)], [(-1, -2)]])
@pytest.mark.parametrize("kind", ["ReduceMean", "ReduceMax"])
def test_reductions_one_by_one(kind, axes):
    b = Builder(SHAPE)
    b.conv(5, 4)
    for part in axes:
        b.op(kind, axes=list(part), keepdims=0)
    b.dense(3, 5)
    check(b)


def test_cuts(tmp_path):
    b = Builder(SHAPE)
    numbers = [b.constant(v, np.int64) for v in ([1, 2], [-1, 8], [2, 3], [1, 2])]
    b.op("Slice", *numbers)
    b.conv(6, 4)
    numbers = [b.constant(v, np.int64) for v in ([2], [5], [1])]
    b.op("Slice", *numbers)
    kinds = check(classifier(b, 3), path=tmp_path / "net.onnx")
    assert kinds[:4] == ["pad", "maxpool", "conv", "channels"]


def test_the_last_step():
    b = Builder([3, 12])
    w = b.constant(b.weights(5, 3, 3))
    b.op("Conv", w, kernel_shape=[3])
    b.op("Gather", b.constant(-1, np.int64), axis=2)
    b.dense(3, 5)
    check(b, (3, 12))


@pytest.mark.parametrize("group, dilation", [(2, 1), (4, 2), (1, 2), (2, 2)])
def test_groups_and_dilation(group, dilation, tmp_path):
    b = Builder(SHAPE)
    b.conv(8, 4, group=group, dilations=[dilation, dilation])
    b.op("Relu")
    check(classifier(b, 8), path=tmp_path / "net.onnx")


def test_a_linear_layer_over_time():
    b = Builder([7, 6])
    b.op("MatMul", b.constant(b.weights(6, 5)))
    b.op("Add", b.constant(b.rng.normal(0, 1, 5)))
    b.op("Relu")
    b.op("Flatten")
    b.dense(3, 35)
    assert check(b, (7, 6)) == ["conv", "dense"]


def one_sigmoid():
    b = Builder(SHAPE)
    b.conv(5, 4)
    b.op("GlobalAveragePool")
    b.op("Flatten")
    b.dense(1, 5)
    b.op("Sigmoid")
    return b


def test_one_sigmoid_is_two_classes(tmp_path):
    b = one_sigmoid()
    path = tmp_path / "net.onnx"
    path.write_bytes(b.pack())
    x = np.random.default_rng(0).uniform(0, 1, (24, *SHAPE)).astype(np.float32)
    model = import_model(path, x)
    assert model.classes == 2 and not model.ops[-1].weight[0].any()
    assert "labels are 0 and 1" in model.metadata["notes"]


def test_a_convolution_at_the_end_is_a_head():
    b = Builder(SHAPE)
    b.conv(5, 4)
    b.op("GlobalAveragePool")
    b.conv(3, 5, (1, 1))
    b.op("Flatten")
    assert check(b) == ["conv", "mean", "dense"]


def refused(b, sentence):
    with pytest.raises(ValueError, match=sentence) as error:
        importer.from_graph(onnx_file.parse(b.pack(), "net.onnx"), "net.onnx")
    assert "one thing" in str(error.value) and "damaged" not in str(error.value)


def test_a_map_is_no_list_of_classes():
    b = Builder(SHAPE)
    b.conv(2, 4)
    refused(b, "2 values at each of 42 places")


def test_a_qoperator_file_is_named(tmp_path):
    onnx_quantization = pytest.importorskip("onnxruntime.quantization")
    b = classifier(Builder(SHAPE), 4)
    source, target = tmp_path / "a.onnx", tmp_path / "b.onnx"
    source.write_bytes(b.pack())

    class Samples(onnx_quantization.CalibrationDataReader):
        def __init__(self):
            self.left = [{"input": np.zeros((1, *SHAPE), np.float32)}]

        def get_next(self):
            return self.left.pop() if self.left else None

    onnx_quantization.quantize_static(
        source, target, Samples(), quant_format=onnx_quantization.QuantFormat.QOperator
    )
    with pytest.raises(ValueError, match="QOperator format .*QuantFormat.QDQ"):
        import_model(target)


def test_weights_beside_the_file(tmp_path):
    b = classifier(Builder(SHAPE), 4)
    model = onnx.load_model_from_string(b.pack())
    path = tmp_path / "net.onnx"
    onnx.save(model, path, save_as_external_data=True, location="net.onnx.data", size_threshold=0)
    x = np.random.default_rng(0).uniform(0, 1, (24, *SHAPE)).astype(np.float32)
    assert import_model(path, x).classes == 3
    (tmp_path / "net.onnx.data").unlink()
    with pytest.raises(ValueError, match=r"'net.onnx.data', which is not beside it"):
        import_model(path, x)


def test_broken_files_give_one_sentence():
    """Any byte altered: a network, or one sentence about the file, in bounded time."""
    b = Builder(SHAPE, opset=18)
    first = b.conv(4, 4, group=2)
    b.op("HardSwish")
    b.op("Concat", first, axis=1)
    numbers = [b.constant(v, np.int64) for v in ([1], [6], [1])]
    b.op("Slice", *numbers)
    raw, rng, taken = classifier(b, 5).pack(), random.Random(3), 0
    for _ in range(1500):
        data = bytearray(raw)
        for _ in range(rng.choice((1, 1, 2, 4))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        start = time.monotonic()
        try:
            importer.from_graph(onnx_file.parse(bytes(data), "net.onnx"), "net.onnx")
            taken += 1
        except ValueError as error:
            assert str(error).startswith("net.onnx") and "\n" not in str(error)
        assert time.monotonic() - start < 5
    assert 0 < taken < 1500


def quantized(b, path, per_channel):
    """The QDQ file that onnxruntime makes of a builder's network, and its samples."""
    tools = pytest.importorskip("onnxruntime.quantization")
    x = np.random.default_rng(1).uniform(0, 1, (24, *SHAPE)).astype(np.float32)

    class Samples(tools.CalibrationDataReader):
        def __init__(self):
            self.left = [{"input": v[None]} for v in x]

        def get_next(self):
            return self.left.pop() if self.left else None

    source = path.with_name("float.onnx")
    source.write_bytes(b.pack())
    tools.quantize_static(
        source, path, Samples(), quant_format=tools.QuantFormat.QDQ, per_channel=per_channel,
        weight_type=tools.QuantType.QInt8,
        activation_type=tools.QuantType.QInt8 if per_channel else tools.QuantType.QUInt8,
    )  # fmt: skip
    return source.read_bytes(), x


@pytest.mark.parametrize("per_channel", [True, False])
def test_a_qdq_file_with_joins_and_functions(per_channel, tmp_path):
    """What is joined has ranges of its own in the file, which stay as they are."""
    b = Builder(SHAPE)
    b.conv(4, 4)
    b.op("Sigmoid")
    first = b.op("AveragePool", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    b.x = "input"
    b.conv(4, 4)
    b.op("Concat", first, axis=1)
    b.conv(6, 8, (1, 1))
    b.op("LeakyRelu")
    path = tmp_path / "net.onnx"
    content, x = quantized(classifier(b, 6), path, per_channel)
    model = import_model(path)
    logits = batch.logits(model, encode.encode(model, x).raw) / 4096
    exact = run(content, x)
    # The file's own numbers limit it: onnxruntime gets no more out of them.
    assert decibels(exact, logits) > min(ENOUGH, decibels(exact, run(path.read_bytes(), x)) - 1)


def decibels(exact, values):
    return 10 * np.log10((exact**2).sum() / ((exact - values) ** 2).sum())


def test_a_qdq_file_with_one_sigmoid(tmp_path):
    b = one_sigmoid()
    path = tmp_path / "net.onnx"
    content, x = quantized(b, path, True)
    model = import_model(path)
    zero, z = (batch.logits(model, encode.encode(model, x).raw) / 4096).T
    assert not zero.any() and np.abs(1 / (1 + np.exp(-z)) - run(content, x)[:, 0]).max() < 0.02
