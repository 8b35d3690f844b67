"""ONNX files: the float network is the file's, and int8 keeps what it computes."""

import os
import pathlib
import random

import numpy as np
import pytest

from microzo_host.importers import finish, import_model, onnx_file, tflite_file
from microzo_host.importers import onnx_network as importer
from microzo_host.model import file as modelfile
from microzo_host.model import network
from microzo_host.reference import batch, compare

pytest.importorskip("onnx", reason="the package onnx reads the files")
pytest.importorskip("onnxruntime", reason="onnxruntime is the reference")
from onnx_build import Builder, from_tflite, run  # noqa: E402

SHARED = pathlib.Path(__file__).parents[3] / "shared"
FULL = bool(os.environ.get("MICROZO_FULL"))


def imported(content):
    return importer.from_graph(onnx_file.parse(content, "net.onnx"), "net.onnx")


def check(content, shape, count=3):
    """The imported float network gives onnxruntime's outputs; returns what was imported."""
    result = imported(content)
    x = np.random.default_rng(1).normal(0, 1, (count, *shape)).astype(np.float32)
    ours = np.empty((count, len(result.order)), np.float32)
    ours[:, result.order] = x.reshape(count, -1)
    got = network.forward(result.net, ours.reshape(count, *result.net.input_shape))[-1]
    got = got.reshape(count, -1)
    if result.dropped:
        got = np.exp(got - got.max(1, keepdims=True))
        got /= got.sum(1, keepdims=True)
    np.testing.assert_allclose(got, run(content, x), rtol=1e-4, atol=2e-5)
    return result


def kinds(result):
    return [layer.kind for layer in result.net.layers]


def classifier(b, channels):
    b.op("GlobalAveragePool")
    b.op("Flatten")
    b.dense(3, channels)
    return b.pack()


def test_a_residual_network_with_norms():
    b = Builder([3, 9, 8])
    b.conv(6, 3, pads=[1, 1, 1, 1])
    b.norm(6)
    skip = b.op("Relu")
    b.conv(6, 6, pads=[1, 1, 1, 1])
    b.norm(6)
    b.op("Add", skip)
    b.op("Relu")
    b.conv(6, 6, group=6, strides=[2, 2], pads=[0, 1, 1, 0])
    b.op("Clip", b.constant(0.0), b.constant(6.0))
    result = check(classifier(b, 6), (3, 9, 8))
    assert kinds(result) == ["conv", "conv", "add", "depthwise", "globalpool", "dense"]


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER", "VALID"])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_automatic_padding(mode, stride):
    b = Builder([2, 8, 7])
    b.conv(4, 2, (3, 2), auto_pad=mode, strides=[stride, stride])
    check(classifier(b, 4), (2, 8, 7))


@pytest.mark.parametrize(
    "kind, attributes",
    [
        ("MaxPool", dict(kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1])),
        ("MaxPool", dict(kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)),
        ("AveragePool", dict(kernel_shape=[2, 3], strides=[1, 2], pads=[1, 1, 0, 1])),
        (
            "AveragePool",
            dict(kernel_shape=[2, 3], strides=[2, 2], pads=[1, 1, 0, 1], count_include_pad=1),
        ),
    ],
)
def test_pools(kind, attributes):
    b = Builder([3, 7, 9])
    b.op(kind, **attributes)
    check(classifier(b, 3), (3, 7, 9))


@pytest.mark.parametrize("keep", [0, 1])
def test_means_over_the_image(keep):
    b = Builder([3, 5, 4])
    b.conv(4, 3)
    b.op("ReduceMean", axes=[2, 3], keepdims=keep)
    if keep:
        b.op("Squeeze", b.constant([2, 3], np.int64))
    b.dense(3, 4)
    check(b.pack(), (3, 5, 4))


def test_a_dense_layer_after_flattening_takes_its_columns_in_our_order():
    b = Builder([2, 4, 3])
    b.conv(5, 2)
    b.op("Flatten")
    b.dense(6, 10)
    b.op("Relu")
    w = b.constant(b.weights(6, 4))
    b.op("MatMul", w)
    b.op("Add", b.constant(b.rng.normal(0, 1, 4)))
    b.op("Softmax", axis=1)
    result = check(b.pack(), (2, 4, 3))
    assert kinds(result) == ["conv", "dense", "dense"] and result.dropped == ["Softmax"]


def test_channels_last_as_keras_exports_it():
    b = Builder([6, 5, 3])
    b.op("Transpose", perm=[0, 3, 1, 2])
    b.conv(4, 3)
    b.op("Relu")
    b.op("Transpose", perm=[0, 2, 3, 1])
    b.op("Reshape", b.constant([-1, 48], np.int64))
    b.dense(3, 48)
    result = check(b.pack(), (6, 5, 3))
    assert result.net.input_shape == (6, 5, 3)
    assert np.array_equal(result.order, np.arange(90))


def test_one_dimension():
    b = Builder([3, 20])
    w = b.constant(b.weights(5, 3, 4))
    b.op("Conv", w, kernel_shape=[4], strides=[2], pads=[1, 2])
    b.op("Relu")
    b.op("MaxPool", kernel_shape=[2], strides=[2])
    b.op("Flatten")
    b.dense(3, 25)
    check(b.pack(), (3, 20))


def test_arithmetic_with_constants_and_what_cannot_be_fused():
    b = Builder([3, 5, 5])
    b.op("Sub", b.constant(np.float32([[[0.4]], [[0.5]], [[0.3]]])))
    b.op("Div", b.constant(0.25))
    first = b.op("Relu")
    b.norm(3)
    b.op("Relu")
    b.conv(3, 3, pads=[1, 1, 1, 1])
    b.op("Mul", b.constant(np.float32([1.5, -0.5, 2]).reshape(3, 1, 1)))
    b.op("Add", first)
    shared = b.x
    b.op("Relu")
    b.op("Add", shared)
    result = check(classifier(b, 3), (3, 5, 5))
    assert kinds(result)[:3] == ["depthwise", "depthwise", "conv"]


def test_a_pad_goes_into_the_convolution():
    b = Builder([2, 6, 5])
    b.op("Pad", b.constant([0, 0, 1, 0, 0, 0, 1, 2], np.int64))
    b.conv(3, 2, strides=[2, 2])
    result = check(classifier(b, 3), (2, 6, 5))
    assert kinds(result) == ["conv", "globalpool", "dense"]


def test_everything_unsupported_is_told_at_once():
    b = Builder([2, 8, 8])
    w = b.constant(b.weights(2, 2, 3, 3))
    b.op("ConvTranspose", w, kernel_shape=[3, 3])
    b.op("HardSwish")
    b.conv(3, 2, dilations=[2, 2])
    with pytest.raises(ValueError, match="2 things that microzo cannot run") as error:
        imported(classifier(b, 3))
    assert "ConvTranspose" in str(error.value) and "HardSwish" in str(error.value)
    assert "\n" not in str(error.value)


def net(seed=0):
    b = Builder([3, 8, 8], seed)
    b.conv(6, 3, pads=[1, 1, 1, 1])
    b.op("Relu")
    b.conv(8, 6, strides=[2, 2])
    b.op("Relu")
    return classifier(b, 8)


@pytest.mark.parametrize("method", ["mse", "percentile"])
def test_int8_keeps_the_float_values(tmp_path, method):
    path = tmp_path / "net.onnx"
    path.write_bytes(net())
    calib = np.random.default_rng(2).normal(0, 1, (100, 3, 8, 8)).astype(np.float32)
    model = import_model(path, calib, method)
    assert finish.notes(model) == []
    assert all(op.stats is not None for op in model.ops if op.kind in modelfile.WEIGHTED[:2])
    assert len(model.covariance) == 27 * 28 // 2
    rows = compare.compare(model, importer.import_network(path).net, calib.transpose(0, 2, 3, 1))
    assert min(row.snr for row in rows) > 30


def test_uint8_samples_have_a_range(tmp_path):
    path = tmp_path / "net.onnx"
    path.write_bytes(net())
    calib = np.random.default_rng(2).integers(0, 256, (100, 8, 8, 3)).astype(np.uint8)
    model = import_model(path, calib, input_range=(-1.0, 1.0))
    real = (model.table.astype(float) - model.in_zp) * model.scales[0]
    assert np.abs(real - np.linspace(-1, 1, 256)).max() <= 0.51 * model.scales[0]


def test_calibration_that_does_not_fit(tmp_path):
    path = tmp_path / "net.onnx"
    path.write_bytes(net())
    with pytest.raises(ValueError, match="give some hundred clean samples"):
        import_model(path)
    for bad in (np.zeros((5, 7)), np.zeros((0, 3, 8, 8)), np.zeros((4, 4, 8, 6))):
        with pytest.raises(ValueError, match="calibration samples"):
            import_model(path, bad)


def test_quantized_files_bring_their_ranges(tmp_path):
    from onnxruntime import quantization

    source, target = tmp_path / "net.onnx", tmp_path / "qdq.onnx"
    source.write_bytes(net())
    samples = np.random.default_rng(3).normal(0, 1, (64, 3, 8, 8)).astype(np.float32)

    class Reader(quantization.CalibrationDataReader):
        def __init__(self):
            self.left = iter(samples)

        def get_next(self):
            x = next(self.left, None)
            return None if x is None else {"input": x[None]}

    quantization.quantize_static(
        source, target, Reader(), per_channel=True, weight_type=quantization.QuantType.QInt8
    )
    content = target.read_bytes()
    assert b"QuantizeLinear" in content
    model = import_model(target)
    assert "realign is not available" in finish.notes(model)[-1]
    x = np.random.default_rng(4).normal(0, 1, (50, 3, 8, 8)).astype(np.float32)
    raw = np.rint(x / model.scales[0] + model.in_zp).clip(-128, 127).astype(int) + 128
    logits = batch.logits(model, raw.astype(np.uint8).transpose(0, 2, 3, 1)) / 4096
    wanted = run(content, x)
    logits = logits.clip(wanted.min(), wanted.max())  # the file saturates its outputs, we do not
    assert np.abs(logits - wanted).max() < 0.05 * np.abs(wanted).max()
    again = import_model(target, samples)
    assert finish.notes(again) == []
    assert [op.out_zp for op in again.ops] == [op.out_zp for op in model.ops]


def test_damaged_files():
    content, rng = net(), random.Random(3)
    for _ in range(4000 if FULL else 200):
        data = bytearray(content)
        for _ in range(rng.choice((1, 1, 2, 8))):
            at = rng.randrange(len(data))
            if rng.random() < 0.1:
                del data[at:]
                break
            data[at] = rng.choice((0, 255, data[at] ^ 1 << rng.randrange(8), rng.randrange(256)))
        try:
            imported(bytes(data))
        except ValueError as error:
            assert str(error).startswith("net.onnx") and "\n" not in str(error)


def test_int8_of_resnet8_loses_at_most_a_point(tmp_path):
    """The network of the shared int8 file in floats, quantized anew: accuracy on CIFAR-10."""
    path = SHARED / "models" / "resnet8_cifar10_int8.tflite"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    file = tmp_path / "resnet8.onnx"
    file.write_bytes(from_tflite(tflite_file.read(path)))
    data = np.load(SHARED / "data" / "cifar10_subset.npz")
    model = import_model(file, data["train_x"][: 200 if FULL else 64], input_range=(0.0, 255.0))
    count = 2000 if FULL else 300
    x, y = data["test_x"][:count], data["test_y"][:count]
    float_net = importer.import_network(file).net
    right = 0
    for i in range(0, count, 100):
        out = network.forward(float_net, x[i : i + 100].astype(np.float32))[-1]
        right += int((out.reshape(-1, 10).argmax(1) == y[i : i + 100]).sum())
    assert right / count > 0.7
    assert batch.accuracy(model, x, y) >= 100 * right / count - 1


def test_pytorch_exports():
    torch = pytest.importorskip("torch", reason="PyTorch is an extra")
    import io

    nn = torch.nn

    class Small(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU())
            self.body = nn.Conv2d(8, 8, 3, 1, 1)
            self.pool, self.head = nn.AdaptiveAvgPool2d(1), nn.Linear(8, 4)

        def forward(self, x):
            x = self.stem(x)
            x = torch.relu(x + self.body(x))
            return self.head(self.pool(x).view(x.size(0), -1))

    module, file = Small().eval(), io.BytesIO()
    sample = torch.zeros(1, 3, 16, 12)
    names = dict(input_names=["input"], dynamic_axes={"input": {0: "n"}})
    torch.onnx.export(module, (sample,), file, dynamo=False, **names)
    result = check(file.getvalue(), (3, 16, 12))
    assert [layer.name for layer in result.net.layers][-1] == "head"
