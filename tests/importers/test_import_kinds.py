"""Networks as users bring them: Keras 3, sensors, one sigmoid, dead channels; bits as LiteRT's."""

import json
import time

import numpy as np
import pytest

import microzo
from microzo.net import trainable
from microzo.net import words as L
from microzo_host import reference as oracle
from microzo_host.importers import tflite, tflite_file
from microzo_host.model import file as modelfile
from microzo_host.reference import layerwise

pytest.importorskip("tflite", reason="the package tflite reads the files")
pytest.importorskip("ai_edge_litert", reason="LiteRT is the reference")
import flatbuffers  # noqa: E402
from ai_edge_litert import schema_py_generated as schema  # noqa: E402
from tflite_build import Reference  # noqa: E402
from tflite_graphs import SAME, VALID, Graphs  # noqa: E402


def imported(content):
    return tflite.from_graph(tflite_file.parse(content, "net.tflite"), "net.tflite")


def check(graphs, count=6, end=True, module=oracle):
    """Every int8 value that an operator makes is LiteRT's; returns the model."""
    if end:
        graphs.dense(3)
    content = graphs.pack()
    model, reference = imported(content), Reference(content)
    numbers = json.loads(model.metadata["tensors"])
    shape = count, model.in_h, model.in_w, model.in_c
    raw = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    runner, compared = layerwise.Runner(model, module), 0
    for sample in raw:
        outputs, _ = runner.run(sample)
        reference(sample.astype(np.int16) - 128)
        for out, number in zip(outputs, numbers, strict=True):
            if number is not None:
                exact = reference.interpreter.get_tensor(number).reshape(-1)
                assert np.array_equal(out.reshape(-1)[-len(exact) :], exact)
                compared += 1
    assert compared
    return model


def kinds(model):
    return [L.KIND_NAMES[op.kind] for op in model.ops]


INT32 = 2  # of TensorType

# an open batch


def integers(g, values, shape=None):
    values = np.asarray(values)
    return g.b.tensor(values.shape if shape is None else shape, data=values, dtype="INT32")


def shape_part(g, source, begin, end, shrink=0):
    """Tensor of a part of the shape of an activation, as a file with an open batch has it."""
    rank = len(g.shape(source))
    numbers = g.b.op("SHAPE", [source], g.b.tensor([rank], dtype="INT32"), outType=INT32)
    parts = [integers(g, [n]) for n in (begin, end, 1)]
    out = g.b.tensor([] if shrink else [end - begin], dtype="INT32")
    return g.b.op("STRIDED_SLICE", [numbers, *parts], out, shrinkAxisMask=shrink)


def open_reshape(g, numbers, shape):
    """RESHAPE by computed numbers, whose result the file gives as 1 where it is open."""
    out = g.activation([1, *shape[1:]], g.zp(), g.scale())
    g.b.tensors[out].shapeSignature = [-1, *shape[1:]]
    g.step("RESHAPE", [g.x, numbers], out)
    return out


def test_flatten_of_an_open_batch():
    g = Graphs(1, [1, 6, 5, 3])
    g.conv(4, (3, 3), padding=VALID)
    batch = shape_part(g, g.x, 0, 1, shrink=1)
    whole = g.b.op("PACK", [batch, integers(g, 48)], g.b.tensor([2], dtype="INT32"), valuesCount=2)
    open_reshape(g, whole, [1, 48])
    assert kinds(check(g)) == ["CONV", "DENSE"]


def test_a_dense_layer_over_time_of_an_open_batch():
    """As tensordot is converted: the rows are a product that the file leaves open."""
    g = Graphs(2, [1, 7, 6])
    numbers = g.b.op("SHAPE", [g.x], g.b.tensor([3], dtype="INT32"), outType=INT32)
    free = g.b.op("GATHER", [numbers, integers(g, [0, 1])], g.b.tensor([2], dtype="INT32"))
    rows = g.b.op("REDUCE_PROD", [free, integers(g, [0])], g.b.tensor([], dtype="INT32"))
    flat = g.b.op("PACK", [rows, integers(g, 6)], g.b.tensor([2], dtype="INT32"), valuesCount=2)
    open_reshape(g, flat, [7, 6])
    parts = g.parameters([5, 6], 5, 0, 6)
    out = g.activation([1, 5], scale=parts[2])
    g.b.tensors[out].shapeSignature = [-1, 5]
    g.step("FULLY_CONNECTED", [g.x, *parts[:2]], out)
    last = g.b.op(
        "CONCATENATION", [free, integers(g, [5])], g.b.tensor([3], dtype="INT32"), axis=0
    )
    out = g.activation([1, 7, 5], g.zp(), g.scale())
    g.b.tensors[out].shapeSignature = [-1, -1, 5]
    g.step("RESHAPE", [g.x, last], out)
    assert kinds(check(g)) == ["CONV", "DENSE"]


# pools


@pytest.mark.parametrize("axes", [[(2, 3)], [(3,), (2,)], [(2,), (2,)]])
def test_means_of_a_transposed_map(axes):
    """As converters of PyTorch write a global average pool."""
    g = Graphs(3, [1, 5, 4, 3])
    g.conv(4, (3, 3))
    g.transpose([0, 3, 1, 2])
    for part in axes:
        g.mean(part, keep=False)
    assert "MEAN" in kinds(check(g))


def test_a_mean_of_channels():
    g = Graphs(4, [1, 5, 4, 6])
    g.mean((3,))
    assert kinds(check(g)) == ["MEAN", "DENSE"]


@pytest.mark.parametrize("kind", ["MEAN", "REDUCE_MAX"])
@pytest.mark.parametrize("steps", [300, 462, 1009])
def test_reductions_over_many_steps(kind, steps):
    g = Graphs(5, [1, steps, 3])
    numbers = integers(g, [1])
    same = kind == "REDUCE_MAX"
    out = g.activation([1, 3], g.zp() if same else None, g.scale() * (1 if same else 0.2))
    g.step(kind, [g.x, numbers], out)
    check(g)


def test_an_average_pool_over_many_steps():
    g = Graphs(6, [1, 1, 600, 4])
    g.pool("AVERAGE_POOL_2D", (1, 300), (1, 300))
    check(g)


# sizes


def pad3(g, before, after):
    """PAD of (1, steps, channels), as Conv1D(padding='causal') and ZeroPadding1D write it."""
    steps, channels = g.shape()[1:]
    rows = integers(g, [[0, 0], [before, after], [0, 0]])
    out = g.activation([1, steps + before + after, channels], g.zp(), g.scale())
    g.step("PAD", [g.x, rows], out)


@pytest.mark.parametrize("stride", [1, 2])
def test_a_causal_convolution(stride):
    g = Graphs(7, [1, 20, 3])
    pad3(g, 4, 0)
    g.reshape([1, 1, 24, 3])
    g.conv(5, (1, 5), (1, stride), VALID)
    assert kinds(check(g)) == ["CONV", "DENSE"]  # the pads are taken over


def dilated(g, kind, channels, kernel, dilation, padding):
    c = g.shape()[3]
    deep = kind == "DEPTHWISE_CONV_2D"
    shape = [1, *kernel, c * channels] if deep else [channels, *kernel, c]
    count = c * channels if deep else channels
    parts = g.parameters(shape, count, 3 if deep else 0, kernel[0] * kernel[1] * c)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    size = g.size(g.shape()[1:3], reach, (1, 1), padding)
    out = g.activation([1, *size, count], scale=parts[2])
    options = g.window((1, 1), padding, 1) | ({"depthMultiplier": channels} if deep else {})
    options |= dict(dilationHFactor=dilation[0], dilationWFactor=dilation[1])
    g.step(kind, [g.x, *parts[:2]], out, **options)


@pytest.mark.parametrize("kind", ["CONV_2D", "DEPTHWISE_CONV_2D"])
@pytest.mark.parametrize("padding", [SAME, VALID])
@pytest.mark.parametrize("dilation", [(2, 2), (1, 3), (3, 1)])
def test_dilated_convolutions(kind, padding, dilation):
    g = Graphs(8, [1, 9, 10, 4])
    dilated(g, kind, 2, (3, 3), dilation, padding)
    model = check(g)
    assert (model.ops[0].dil_h, model.ops[0].dil_w) == dilation
    check_again = modelfile.unpack(modelfile.pack(model))
    assert (check_again.ops[0].dil_h, check_again.ops[0].dil_w) == dilation


def test_a_dilation_as_tensorflow_writes_it():
    """SPACE_TO_BATCH_ND, a convolution of the parts, BATCH_TO_SPACE_ND, over steps."""
    g, d = Graphs(9, [1, 14, 3]), 2
    block = integers(g, [d])
    parts = g.activation([d, 10, 3], g.zp(), g.scale())
    g.step("SPACE_TO_BATCH_ND", [g.x, block, integers(g, [[4, 2]])], parts)
    g.step(
        "RESHAPE",
        [g.x, integers(g, [d, 1, 10, 3])],
        g.activation([d, 1, 10, 3], g.zp(), g.scale()),
    )
    weights = g.parameters([5, 1, 3, 3], 5, 0, 9)
    out = g.activation([d, 1, 8, 5], scale=weights[2])
    g.step("CONV_2D", [g.x, *weights[:2]], out, **g.window((1, 1), VALID, 1))
    g.step("RESHAPE", [g.x, integers(g, [d, 8, 5])], g.activation([d, 8, 5], g.zp(), g.scale()))
    out = g.activation([1, 14, 5], g.zp(), g.scale())
    g.step("BATCH_TO_SPACE_ND", [g.x, block, integers(g, [[0, 2]])], out)
    model = check(g)
    assert kinds(model) == ["CONV", "DENSE"]
    op = model.ops[0]
    assert (op.dil_w, op.p_l, op.p_r) == (2, 4, 0)


def strided(g, begin, end, steps, shrink=0):
    shape = g.shape()
    numbers = [integers(g, v) for v in (begin, end, steps)]
    part = [len(range(*slice(b, e, s).indices(n))) for b, e, s, n in zip(begin, end, steps, shape)]
    if shrink:
        part = [n for i, n in enumerate(part) if not shrink >> i & 1]
    out = g.activation(part, g.zp(), g.scale())
    g.step("STRIDED_SLICE", [g.x, *numbers], out, shrinkAxisMask=shrink)


@pytest.mark.parametrize(
    "begin, end, steps",
    [
        ([0, 1, 2, 0], [1, 6, 7, 4], [1, 1, 1, 1]),
        ([0, 0, 1, 0], [1, 7, 8, 4], [1, 2, 3, 1]),
        ([0, 2, 0, 1], [1, 5, 8, 3], [1, 1, 2, 1]),
        ([0, 0, 0, 0], [1, 7, 8, 4], [1, 1, 1, 2]),
        ([0, -3, 0, 0], [1, -1, 8, 4], [1, 1, 1, 1]),
    ],
)
def test_slices(begin, end, steps):
    g = Graphs(10, [1, 7, 8, 4])
    g.conv(4, (3, 3))
    strided(g, begin, end, steps)
    check(g)


def test_the_last_step():
    g = Graphs(11, [1, 9, 4])
    strided(g, [0, 8, 0], [1, 9, 4], [1, 1, 1], shrink=2)
    assert kinds(check(g)) == ["PAD", "DENSE"]


def test_a_split_and_what_it_gives():
    g = Graphs(12, [1, 4, 5, 6])
    parts = [g.activation([1, 4, 5, 3], g.zp(), g.scale()) for _ in range(2)]
    g.b.op("SPLIT", [integers(g, 3), g.x], parts, numSplits=2)
    g.x = parts[0]
    first = g.conv(3, (3, 3))
    g.x = parts[1]
    g.binary("ADD", first)
    check(g)


def test_pads_of_channels():
    """As ResNets with shortcuts of type A do."""
    g = Graphs(13, [1, 4, 5, 3])
    rows = integers(g, [[0, 0], [0, 0], [0, 0], [1, 2]])
    g.step("PAD", [g.x, rows], g.activation([1, 4, 5, 6], g.zp(), g.scale()))
    check(g)


@pytest.mark.parametrize("groups", [2, 4])
def test_a_grouped_convolution(groups):
    g = Graphs(14, [1, 6, 5, 4])
    parts = g.parameters([8, 3, 3, 4 // groups], 8, 0, 36 // groups)
    out = g.activation([1, 6, 5, 8], scale=parts[2])
    g.step("CONV_2D", [g.x, *parts[:2]], out, **g.window((1, 1), SAME, 1))
    model = check(g)
    assert kinds(model)[0] == ("DWCONV" if groups == 4 else "PAD")


@pytest.mark.parametrize("kind", ["MAXIMUM", "MINIMUM"])
def test_the_larger_and_the_smaller(kind):
    g = Graphs(15, [1, 4, 5, 3])
    first = g.conv(3, (3, 3))
    second = g.conv(3, (3, 3))
    g.b.tensors[second].quantization = g.b.tensors[first].quantization
    g.step(kind, [first, second], g.activation([1, 4, 5, 3], g.zp(first), g.scale(first)))
    check(g)


# functions of one value


def every_value(g):
    return np.arange(256, dtype=np.uint8).reshape(1, 1, 64, 4)


def values_of(graphs):
    """Model and LiteRT on all 256 values."""
    graphs.dense(2)
    content = graphs.pack()
    model, reference = imported(content), Reference(content)
    raw = every_value(graphs)[0]
    outputs, _ = layerwise.Runner(model, oracle).run(raw)
    reference(raw.astype(np.int16) - 128)
    numbers = json.loads(model.metadata["tensors"])
    for out, number in zip(outputs, numbers, strict=True):
        exact = reference.interpreter.get_tensor(number).reshape(-1)
        assert np.array_equal(out.reshape(-1), exact)
    return model


@pytest.mark.parametrize("kind, low, high", [("EXP", -3, 2), ("LOG", 0.0, 5), ("GELU", -4, 4)])
@pytest.mark.parametrize("approximate", [False, True])
def test_functions_that_litert_tabulates(kind, low, high, approximate):
    g = Graphs(16, [1, 1, 64, 4])
    scale = (high - low) / 255
    g.b.tensors[g.x].quantization.scale = np.float32([scale])
    g.b.tensors[g.x].quantization.zeroPoint = np.int64([round(-128 - low / scale)])
    options = {"approximate": approximate} if kind == "GELU" else {}
    g.unary(kind, -100, 0.03, **options)
    assert kinds(values_of(g)) == ["LUT", "DENSE"]


@pytest.mark.parametrize("kind", ["TANH", "RELU6"])
def test_a_network_that_ends_in_a_function(kind):
    g = Graphs(25, [1, 12])
    g.dense(5)
    g.unary(kind, 0, 1 / 128)
    model = check(g, end=False)
    assert model.out_tensor == model.ops[-1].out and model.logit_mult


def test_a_chain_is_one_table():
    """x * tanh(log(1 + exp(x))), as Keras writes Mish."""
    g = Graphs(17, [1, 1, 64, 4], zero_point=3)
    x = g.x
    g.unary("EXP", -128, 0.05)
    one = g.b.tensor([], 0.01, 0, data=100)
    g.binary("ADD", one)
    g.unary("LOG", -128, 0.012)
    g.unary("TANH", 0, 1 / 128)
    g.binary("MUL", x)
    assert kinds(values_of(g)) == ["LUT", "DENSE"]


def test_a_choice_between_functions():
    """ReLU with a threshold and a slope: GREATER, MUL, SELECT_V2, MINIMUM."""
    g = Graphs(18, [1, 1, 64, 4], zero_point=-3)
    x, shape = g.x, g.shape()
    zero, scale = g.zp(), g.scale()
    level = g.b.tensor([], scale, zero, data=20)
    g.step("GREATER", [x, level], g.b.tensor(shape, dtype="BOOL"))
    test = g.x
    slope = g.b.tensor([], 0.001, 0, data=100)
    g.step("MUL", [x, slope], g.activation(shape, zero, scale))
    g.step("SELECT_V2", [test, x, g.x], g.activation(shape, zero, scale))
    g.step(
        "MINIMUM", [g.x, g.b.tensor([], scale, zero, data=90)], g.activation(shape, zero, scale)
    )
    assert kinds(values_of(g)) == ["LUT", "DENSE"]


@pytest.mark.parametrize("slopes", [[1, 1, 1, 1], [1, 1, 1, 4], [1, 5, 6, 4]])
def test_prelu(slopes):
    g = Graphs(19, [1, 5, 6, 4])
    g.conv(4, (3, 3))
    amounts = g.rng.integers(1, 127, slopes[1:])
    alpha = g.b.tensor(slopes[1:], 0.003, 0, data=amounts)
    g.step("PRELU", [g.x, alpha], g.activation([1, 5, 6, 4], scale=g.scale() * 0.6))
    assert ("MUL" in kinds(check(g))) == (np.prod(slopes) > 1)


# ends


def one_sigmoid(seed=20):
    g = Graphs(seed, [1, 4, 4, 2])
    g.conv(3, (3, 3))
    g.dense(1)
    last = g.x
    g.unary("LOGISTIC", -128, 1 / 256)
    return g, last


def test_one_sigmoid_is_two_classes(tmp_path):
    g, last = one_sigmoid()
    model = check(g, end=False)
    assert model.classes == 2 and kinds(model) == ["CONV", "DENSE"]
    assert "labels are 0 and 1" in model.metadata["notes"]
    path = str(tmp_path / "m.safetensors")
    modelfile.write(path, model)
    loaded = microzo.load(path)
    rng = np.random.default_rng(2)
    for _ in range(6):
        sample = rng.integers(0, 256, 32).astype(np.uint8).tobytes()
        for label in (0, 1):
            loss = loaded.loss(sample, label)
            zero, z = (v / 4096 for v in loaded.logits())
            sure = 1 / (1 + np.exp(-z if label else z))
            assert zero == 0 and loss == pytest.approx(-np.log(sure), abs=2e-3)


def test_a_sigmoid_behind_something_else_than_a_dense_layer():
    g = Graphs(21, [1, 4, 4, 2])
    g.conv(1, (3, 3))
    g.mean(keep=False)
    g.unary("LOGISTIC", -128, 1 / 256)
    model = check(g, end=False)
    assert kinds(model) == ["CONV", "MEAN", "DENSE"] and model.classes == 2


def test_a_convolution_at_the_end_is_a_head():
    g = Graphs(22, [1, 6, 6, 3])
    g.conv(8, (3, 3))
    g.pool("AVERAGE_POOL_2D", (6, 6), (6, 6))
    g.conv(5, (1, 1))
    g.reshape([1, 5])
    g.unary("SOFTMAX", -128, 1 / 256, beta=1.0)
    model = check(g, end=False)
    assert kinds(model) == ["CONV", "AVGPOOL", "DENSE"]
    assert not model.ops[2].flags & L.ROUND_ONCE  # a convolution rounds twice


# biases and bounds


def test_dead_channels_import_exactly():
    g = Graphs(23, [1, 6, 6, 3])
    g.conv(6, (3, 3), act=1)
    node = g.b.nodes[-1]
    weights, biases = (g.b.buffers[g.b.tensors[i].buffer] for i in node.inputs[1:3])
    values = np.frombuffer(weights.data.tobytes(), np.int8).reshape(6, -1).copy()
    amounts = np.frombuffer(biases.data.tobytes(), np.int32).copy()
    values[[1, 4]] = 0
    amounts[1], amounts[4] = 1 << 30, -(1 << 30)
    weights.data = values.view(np.uint8).reshape(-1)
    biases.data = amounts.view(np.uint8)
    model = check(g)
    assert model.ops[0].b_max < 1 << 24


def test_a_layer_that_is_too_wide_to_train_is_exact():
    g = Graphs(24, [1, 34000])
    model = check(g, count=2)
    assert model.ops[0].abs_sum and "not trained" in model.metadata["notes"]
    words = modelfile.plan(model)
    assert trainable.weighted(words) == [] and trainable.head(words) == -1


def test_tiny_scales_of_large_biases_are_exact():
    """Outputs of a dense layer are rounded once, in double: a 31-bit multiplier may not do."""
    for seed in range(12):
        g = Graphs(seed, [1, 1])
        rng = np.random.default_rng(seed)
        scale = np.float32(rng.uniform(1e-7, 3e-6))
        w = g.b.tensor([16, 1], [scale], 0, data=rng.integers(-127, 128, (16, 1)))
        bias = rng.integers(-(1 << 27), 1 << 27, 16)
        b = g.b.tensor([16], [scale * np.float32(g.scale())], 0, data=bias, dtype="INT32")
        out = g.activation([1, 16], 0, float(scale * g.scale() * (1 << 20)))
        g.step("FULLY_CONNECTED", [g.x, w, b], out)
        content = g.pack()
        model, reference = imported(content), Reference(content)
        runner = layerwise.Runner(model, oracle)
        wrong = 0
        for value in range(256):
            exact = reference(np.int16([value - 128])).reshape(-1)
            wrong += int((runner.last(np.uint8([value])).reshape(-1) != exact).sum())
        assert wrong == 0 or "31-bit" in model.metadata["notes"]
        assert wrong == 0, seed


# refusals


def custom(name):
    g = Graphs(31, [1, 6, 6, 3])
    g.step(name, [g.x], g.activation([1, 6, 6, 3]))
    g.dense(2)
    return g.pack()


def batch_of_four():
    g = Graphs(32, [4, 16])
    w, b, scale = g.parameters([3, 16], 3, 0, 16)
    g.step("FULLY_CONNECTED", [g.x, w, b], g.activation([4, 3], scale=scale))
    return g.pack()


def a_map():
    g = Graphs(33, [1, 12, 12, 1])
    g.conv(2, (1, 1))
    return g.pack()


def wide():
    g = Graphs(34, [1, 4])
    g.b.tensors[g.x].type = 7  # INT16
    g.dense(2)
    return g.pack()


def recurrent():
    g = Graphs(35, [1, 6, 4])
    g.b.tensor([0], 0.1, 0)  # LSTM layers keep tensors without values
    g.step("UNIDIRECTIONAL_SEQUENCE_LSTM", [g.x], g.activation([1, 6, 4]))
    g.dense(2)
    return g.pack()


@pytest.mark.parametrize(
    "content, sentence",
    [
        (custom("ethos-u"), "compiled by Vela"),
        (custom("edgetpu-custom-op"), "compiled for an Edge TPU"),
        (custom("TFLite_Detection_PostProcess"), "detector whose end makes boxes"),
        (custom("MyOwn"), "custom operator 'MyOwn'"),
        (batch_of_four(), "4 samples .* at a time .*batch of 1"),
        (a_map(), r"2 values at each of 144 places.*not 288 classes"),
        (wide(), "16-bit activations.*TFLITE_BUILTINS_INT8"),
        (recurrent(), "LSTM.*causal Conv1D"),
    ],
)
def test_a_refusal_says_what_the_file_is(content, sentence):
    with pytest.raises(ValueError, match=sentence) as error:
        imported(content)
    assert "damaged" not in str(error.value) and "\n" not in str(error.value)


def test_nodes_behind_a_refused_one_are_not_complained_about():
    with pytest.raises(ValueError, match="one thing that microzo cannot run"):
        imported(custom("MyOwn"))


def test_several_graphs_are_named():
    model = schema.ModelT.InitFromPackedBuf(custom("MyOwn"), 0)
    model.subgraphs = model.subgraphs * 2
    builder = flatbuffers.Builder(1 << 16)
    builder.Finish(model.Pack(builder), b"TFL3")
    with pytest.raises(ValueError, match="holds 2 graphs.*LSTM"):
        imported(bytes(builder.Output()))


def test_a_model_of_half_a_megabyte_takes_seconds():
    g = Graphs(36, [1, 512])
    g.dense(700, 1)
    g.dense(200, 1)
    g.dense(4)
    content = g.pack()
    assert len(content) > 490_000
    start = time.monotonic()
    imported(content)
    assert time.monotonic() - start < 5
