"""TFLite models give LiteRT's reference bits, operator by operator and whole."""

import json
import os
import pathlib

import numpy as np
import pytest

from microzo_host import reference as oracle
from microzo_host.importers import tables, tflite, tflite_file
from microzo_host.reference import layerwise

pytest.importorskip("tflite", reason="the package tflite reads the files")
pytest.importorskip("ai_edge_litert", reason="LiteRT is the reference")
from tflite_build import Reference  # noqa: E402
from tflite_graphs import ACTIVATIONS, SAME, VALID, Graphs  # noqa: E402

SHARED = pathlib.Path(__file__).parents[3] / "shared"
FULL = bool(os.environ.get("MICROZO_FULL"))
SEEDS = range(24 if FULL else 2)


def imported(content):
    return tflite.from_graph(tflite_file.parse(content, "net.tflite"), "net.tflite")


def samples(model, count, seed=0):
    """Raw samples: both ends, then random ones."""
    shape = (count, model.in_h, model.in_w, model.in_c)
    raw = np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)
    raw[0], raw[1 % count] = 0, 255
    return raw


def differences(content, count=6, kernels=(oracle,), raw=None):
    """How many int8 values of each operator differ from LiteRT, over some samples."""
    model, reference = imported(content), Reference(content)
    numbers = json.loads(model.metadata["tensors"])
    found = dict.fromkeys((op.name for op in model.ops), 0)
    for module in kernels:
        runner = layerwise.Runner(model, module)
        for sample in samples(model, count) if raw is None else raw:
            outputs, _ = runner.run(sample)
            reference(sample.astype(np.int16) - 128)
            for op, out, number in zip(model.ops, outputs, numbers, strict=True):
                if number is None:
                    continue
                wanted = reference.interpreter.get_tensor(number).reshape(-1)
                found[op.name] += int((out.reshape(-1) != wanted).sum())
    return found


def check(graphs, count=6, raw=None):
    """No difference, after a dense layer that gives the network an end."""
    graphs.dense(3)
    found = differences(graphs.pack(), count, raw=raw)
    assert not any(found.values()), found


def drawn(seed):
    """(rng, h, w, c, kernel, stride) of a small layer."""
    rng = np.random.default_rng(seed)
    h, w, c = (int(n) for n in rng.integers(3, 10, 3))
    kernel, stride = (tuple(int(n) for n in rng.integers(1, 4, 2)) for _ in range(2))
    return rng, h, w, c, kernel, stride


@pytest.mark.parametrize("padding", [SAME, VALID])
@pytest.mark.parametrize("act", ACTIVATIONS)
@pytest.mark.parametrize("seed", SEEDS)
def test_windows(seed, act, padding):
    rng, h, w, c, kernel, stride = drawn(seed)
    g = Graphs(seed, [1, h, w, c])
    g.conv(5, kernel, stride, padding, act, per_channel=bool(seed % 2))
    check(g)
    g = Graphs(seed, [1, h, w, c])
    g.depthwise(1 + seed % 3, kernel, stride, padding, act)
    check(g)
    for kind in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
        g = Graphs(seed, [1, h, w, c])
        g.pool(kind, kernel, stride, padding, act)
        check(g)


@pytest.mark.parametrize("size", [7, 8])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("kernel", [2, 3])
def test_same_padding_of_odd_and_even_sizes(size, stride, kernel):
    g = Graphs(size, [1, size, size + 1, 2])
    g.conv(3, (kernel, kernel), (stride, stride), SAME)
    g.depthwise(1, (kernel, kernel), (stride, stride), SAME)
    check(g)


@pytest.mark.parametrize("zero_point", [-128, 127])
def test_extreme_zero_points(zero_point):
    g = Graphs(3, [1, 6, 6, 3], zero_point)
    g.conv(4, (3, 3))
    g.depthwise(2, (3, 3), (2, 2))
    g.dense(5)
    check(g)


@pytest.mark.parametrize("act", ACTIVATIONS)
@pytest.mark.parametrize("seed", SEEDS)
def test_dense(seed, act):
    g = Graphs(seed, [1, 4, 3, 5])
    g.dense(30, act, per_channel=bool(seed % 2))
    g.dense(10, act, bias=bool(seed % 3))
    g.dense(6, per_channel=not seed % 2)
    check(g, 20)


@pytest.mark.parametrize("seed", SEEDS)
def test_dense_over_rows(seed):
    g = Graphs(seed, [1, 1, 6, 8])
    g.dense(5, rows=6, per_channel=bool(seed % 2))
    g.reshape([1, 30])
    g.dense(4)
    check(g, 20)


@pytest.mark.parametrize("act", ACTIVATIONS)
@pytest.mark.parametrize("seed", SEEDS)
def test_add(seed, act):
    g = Graphs(seed, [1, 5, 4, 3])
    first = g.x
    g.conv(3, (3, 3))
    g.binary("ADD", first, act)
    check(g)


@pytest.mark.parametrize("axes", [(1, 2), (2, 1), (1,), (2,), (-2, -3)])
@pytest.mark.parametrize("seed", SEEDS)
def test_mean(seed, axes):
    """Rounding of TFLite's own: 1 / n is put into the multiplier and cut off."""
    _, h, w, c, *_ = drawn(seed)
    g = Graphs(seed, [1, h, w, c])
    g.mean([a % 4 for a in axes] if seed % 2 else axes, keep=bool(seed % 2))
    check(g, 20)


@pytest.mark.parametrize("act", ACTIVATIONS)
@pytest.mark.parametrize("kind", ["ADD", "SUB", "MUL"])
@pytest.mark.parametrize("seed", SEEDS)
def test_sums_and_products(seed, kind, act):
    """Of tensors, spread tensors in either place, and constants."""
    shape = [1, 4, 5, 3]
    for other in (shape, [1, 1, 1, 3], [1, 4, 5, 1], [1, 1, 1, 1]):
        for swapped in (False, True):
            g = Graphs(seed, shape)
            whole = g.conv(3, (3, 3))
            if other[1] == 1:
                g.pool("AVERAGE_POOL_2D", (4, 5), (1, 1))
            small = g.conv(other[3], (1, 1))
            g.x, second = (small, whole) if swapped else (whole, small)
            g.binary(kind, second, act, shape=shape)
            check(g)
    for constant in (shape, [3], [1, 1, 1, 1], []):
        for swapped in (False, True):
            g = Graphs(seed, shape)
            values = g.rng.integers(-128, 128, constant)
            second = g.b.tensor(constant, g.scale() * 0.7, g.zero_point(), data=values)
            if swapped:
                g.x, second = second, g.x
            g.binary(kind, second, act, shape=shape)
            check(g)


@pytest.mark.parametrize("axis", [1, 2, 3, -1])
@pytest.mark.parametrize("count", [2, 3])
def test_concatenation(axis, count):
    g = Graphs(axis + 5, [1, 4, 3, 2])
    parts = [g.x]
    for i in range(1, count):
        g.x = parts[0]
        parts.append(g.conv(2, (1 + i, 1)))
        g.b.tensors[g.x].quantization = g.b.tensors[parts[0]].quantization
    g.concatenate(parts, axis)
    check(g)


@pytest.mark.parametrize(
    "kind", ["RELU", "RELU6", "RELU_N1_TO_1", "LEAKY_RELU", "QUANTIZE", "HARD_SWISH"]
)
@pytest.mark.parametrize("seed", SEEDS)
def test_functions_of_one_value(seed, kind):
    g = Graphs(seed, [1, 1, 64, 4])
    options = {"alpha": 0.3} if kind == "LEAKY_RELU" else {}
    if kind == "HARD_SWISH":
        options["scale"] = g.scale() * 1.5
    g.unary(kind, **options)
    check(g, raw=every_value())


@pytest.mark.parametrize("kind", ["LOGISTIC", "TANH"])
@pytest.mark.parametrize("seed", SEEDS)
def test_curves(seed, kind):
    g = Graphs(seed, [1, 1, 64, 4])
    zero_point, scale = (-128, 1 / 256) if kind == "LOGISTIC" else (0, 1 / 128)
    g.unary(kind, zero_point, scale)
    check(g, raw=every_value())


def test_the_16_bit_hard_swish_over_many_scales():
    """Its roundings differ from one another, and only some scales show it."""
    for seed in range(200 if FULL else 40):
        g = Graphs(seed, [1, 1, 64, 4])
        g.unary("HARD_SWISH", scale=g.scale() * g.rng.uniform(0.6, 1.5))
        content = g.pack()
        x, y = tflite_file.parse(content, "net.tflite").tensors
        wanted = Reference(content)(every_value().astype(np.int16) - 128)
        assert np.array_equal(tables.hard_swish(x, y), wanted.reshape(-1)), seed


def every_value():
    return np.arange(256, dtype=np.uint8).reshape(1, 1, 64, 4)


@pytest.mark.parametrize("fill", [None, -128, 5])
def test_pads_before_a_pool(fill):
    g = Graphs(4, [1, 6, 6, 2], zero_point=-128 if fill is None else 5)
    g.pad((1, 1, 1, 0), fill)
    g.pool("MAX_POOL_2D", (3, 3), (2, 2))
    assert len(imported_with_end(g).ops) == (3 if fill == 5 else 2)
    check(g)


def imported_with_end(graphs):
    graphs.dense(2)
    return imported(graphs.pack())


def test_a_pad_is_taken_over_by_the_convolution():
    g = Graphs(5, [1, 7, 6, 3])
    g.pad((1, 0, 2, 1))
    g.conv(4, (3, 3), (2, 2), VALID)
    g.dense(2)
    model = imported(g.pack())
    assert len(model.ops) == 2
    assert (model.ops[0].p_t, model.ops[0].p_b, model.ops[0].p_l, model.ops[0].p_r) == (1, 0, 2, 1)
    check(g)


def test_a_pad_that_cannot_be_taken_over_stays():
    g = Graphs(5, [1, 7, 6, 3])
    g.pad((2, 2, 3, 1))
    g.pool("AVERAGE_POOL_2D", (3, 3), (2, 2))
    g.pad((3, 0, 0, 0))
    g.conv(4, (2, 2))
    g.dense(2)
    assert len(imported(g.pack()).ops) == 5
    check(g)


def test_a_clamp_becomes_the_activation_before_it():
    g = Graphs(6, [1, 4, 4, 3])
    g.conv(4, (3, 3))
    g.unary("RELU6", g.zp(), g.scale())
    g.dense(3)
    assert len(imported(g.pack()).ops) == 2
    check(g)


def test_transposes_around_the_core():
    """A model exported channels first: samples are given channels last, dense columns move."""
    g = Graphs(7, [1, 3, 6, 5])
    g.transpose([0, 2, 3, 1])
    g.conv(4, (3, 3))
    g.transpose([0, 3, 1, 2])
    g.reshape([1, 120])
    g.dense(6)
    content = g.pack()
    model, reference = imported(content), Reference(content)
    assert (model.in_h, model.in_w, model.in_c) == (6, 5, 3)
    runner = layerwise.Runner(model, oracle)
    for raw in samples(model, 8):
        wanted = reference(raw.astype(np.int16).transpose(2, 0, 1) - 128).reshape(-1)
        assert np.array_equal(runner.last(raw).reshape(-1), wanted)


def test_a_flat_input_that_is_made_an_image():
    g = Graphs(7, [1, 84])
    g.reshape([1, 7, 6, 2])
    g.conv(4, (3, 3))
    model = imported_with_end(g)
    assert (model.in_h, model.in_w, model.in_c) == (7, 6, 2)
    check(g)


@pytest.mark.parametrize("kind", ["UINT8", "FLOAT32"])
def test_other_types_around_the_core(kind):
    g = Graphs(8, [1, 4, 4, 2])
    quantized = g.x
    scale, zero_point = g.scale(), g.zp()
    outer = g.b.tensor([1, 4, 4, 2], *((scale, 90) if kind == "UINT8" else (None, 0)), dtype=kind)
    g.b.inputs = [g.b.op("QUANTIZE", [outer], quantized)]
    g.b.inputs = [outer]
    g.conv(3, (3, 3))
    g.dense(4)
    last = g.x
    if kind == "UINT8":
        out = g.b.tensor([1, 4], g.scale(), g.zp() + 128, dtype="UINT8")
        g.x = g.b.op("QUANTIZE", [last], out)
    else:
        g.x = g.b.op("DEQUANTIZE", [last], g.b.tensor([1, 4], dtype="FLOAT32"))
        g.x = g.b.op("SOFTMAX", [g.x], g.b.tensor([1, 4], dtype="FLOAT32"), beta=1.0)
    content = g.pack()
    model, reference = imported(content), Reference(content)
    runner = layerwise.Runner(model, oracle)
    for raw in samples(model, 8):
        x = raw if kind == "UINT8" else (raw.astype(np.float32) - 128 - zero_point) * scale
        assert np.array_equal(runner.last(raw).reshape(-1), reference(x, last).reshape(-1))


def test_everything_unsupported_is_told_at_once():
    g = Graphs(9, [1, 6, 6, 3])
    first = g.x
    g.step("L2_NORMALIZATION", [g.x], g.activation(g.shape()))
    g.conv(3, (3, 3))
    second = g.x
    g.x = first
    g.step("REVERSE_V2", [g.x], g.activation([1, 6, 6, 3]))
    g.binary("ADD", second)
    g.dense(2)
    what = "2 things that microzo cannot run: L2_NORMALIZATION 't1' .*; REVERSE_V2 't5'"
    with pytest.raises(ValueError, match=what) as error:
        imported(g.pack())
    assert "\n" not in str(error.value)


def test_a_float_model_is_refused_with_a_cure():
    g = Graphs(10, [1, 4])
    x = g.b.tensor([1, 4], dtype="FLOAT32")
    w = g.b.tensor([2, 4], data=np.ones((2, 4)), dtype="FLOAT32")
    g.b.inputs = [x]
    g.x = g.b.op("FULLY_CONNECTED", [x, w, -1], g.b.tensor([1, 2], dtype="FLOAT32"))
    with pytest.raises(ValueError, match="full integer quantization"):
        imported(g.pack())


def kernels_here():
    """The oracle, and the C kernels where they are built."""
    return sorted({oracle, layerwise.kernels()}, key=lambda m: m.__name__)


@pytest.mark.parametrize("name", ["ad01", "kws", "resnet8_cifar10"])
def test_shared_models(name):
    """Models of MLPerf Tiny: every value of every layer, on real samples and random ones."""
    path = SHARED / "models" / f"{name}_int8.tflite"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    content = path.read_bytes()
    model = imported(content)
    shape = model.in_h, model.in_w, model.in_c
    raw = samples(model, 200 if FULL else 10, seed=1)
    if name == "kws":
        real = np.load(SHARED / "data" / "kws_features.npz")["x"].astype(np.int16) + 128
        raw = np.concatenate(
            [raw, real.astype(np.uint8).reshape(-1, *shape)[:: 1 if FULL else 30]]
        )
    if name == "resnet8_cifar10":
        real = np.load(SHARED / "data" / "cifar10_subset.npz")["test_x"]
        raw = np.concatenate([raw, real[:: 1 if FULL else 100]])
    fast = [m for m in kernels_here() if m is not oracle]
    found = differences(content, kernels=fast, raw=raw)
    assert not any(found.values()), found
    found = differences(content, kernels=[oracle], raw=raw[:6])
    assert not any(found.values()), found
