"""Arrays of NumPy and of Python as samples, on CPython; test_ulab.py has those of MicroPython."""

import json
from array import array

import numpy as np
import pytest
import small

import microzo
from microzo.net import arrays
from microzo_host.model import encode
from microzo_host.model import file as modelfile

RNG = np.random.default_rng(11)
RAW = RNG.integers(0, 256, (12, 12)).astype(np.uint8)
VALUES = (RAW / 255).astype(np.float32)


def logits(model, x):
    model.predict(x)
    return list(model.logits())


@pytest.mark.parametrize(
    ("x", "kind"),
    [
        (b"ab", "uint8"), (bytearray(2), "uint8"), (memoryview(b"ab"), "uint8"),
        (memoryview(array("b", [1, 2])), "int8"), (memoryview(array("h", [1, 2])), "int16"),
        (array("B", [1]), "uint8"), (array("b", [1]), "int8"), (array("H", [1]), "uint16"),
        (array("i", [1]), "int"), (array("Q", [1]), "int"), (array("f", [1]), "float"),
        (np.zeros(2, np.uint8), "uint8"), (np.zeros(2, np.int8), "int8"),
        (np.zeros((1, 2), bool), "bool"), (np.zeros(2, np.float16), "float16"),
        (np.zeros(2, np.uint64), "uint64"), (np.zeros(2, complex), "complex128"),
        (np.zeros(0, np.uint8), "uint8"), (np.zeros(2, ">i2"), ">i2"),
    ],
)  # fmt: skip
def test_kinds(x, kind):
    assert arrays.kind(x) == kind
    real = ("float", "float16", "int", "int16", "uint16", "uint64")
    assert arrays.values(kind) == (kind in real)


class Ulab:
    """What ulab's arrays tell of their type: the number of a code, or an object."""

    def __init__(self, dtype, item):
        self.dtype = dtype
        self.shape = (1,)
        self._item = item

    def __getitem__(self, i):
        return self._item


class Dtype:
    def __init__(self, name):
        self._name = name

    def __str__(self):
        return f"dtype('{self._name}')"


@pytest.mark.parametrize(
    ("x", "kind"),
    [
        (Ulab(ord("B"), 1), "uint8"), (Ulab(ord("B"), True), "bool"), (Ulab(ord("b"), 1), "int8"),
        (Ulab(ord("h"), 1), "int16"), (Ulab(ord("f"), 1.0), "float"), (Ulab(ord("c"), 1j), "c"),
        (Ulab(Dtype("uint8"), False), "bool"), (Ulab(Dtype("uint16"), 1), "uint16"),
    ],
)  # fmt: skip
def test_kinds_of_ulab(x, kind):
    assert arrays.kind(x) == kind


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.T, lambda x: x[:, ::-1], lambda x: x[::-1], lambda x: np.asfortranarray(x),
        lambda x: np.repeat(x, 2, 1)[:, ::2], lambda x: x[None, :, :, None],
        lambda x: np.broadcast_to(x[:1], (12, 12)),
    ],
)  # fmt: skip
def test_views_are_read_in_their_order(change, model):
    x = change(RAW)
    order = np.ascontiguousarray(x).tobytes()
    assert arrays.is_dense(x) == x.flags.c_contiguous
    assert logits(model, x) == logits(model, order)
    assert bytes(model.encode(x)) == order
    source = microzo.ArrayData(x[None], [1])
    out = bytearray(144)
    source.read_into(0, out)
    assert out == order


def test_raw_samples_are_not_copied():
    assert np.shares_memory(np.asarray(arrays.flat(RAW)), RAW)
    block = np.zeros((3, 144), np.uint8)
    sources = [microzo.ArrayData(block), microzo.ArrayData(list(block))]
    block[1, 5] = 9
    out = bytearray(144)
    for source in sources:
        source.read_into(1, out)
        assert out[5] == 9


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16])
def test_floats_go_through_the_scale(kind, model, model_path):
    x = VALUES.astype(kind)
    expected = encode.encode(modelfile.read(model_path), x[None]).raw.tobytes()
    assert bytes(model.encode(x)) == expected
    assert logits(model, x) == logits(model, expected)
    assert logits(model, x.T) == logits(
        model, np.ascontiguousarray(np.frombuffer(expected, np.uint8).reshape(12, 12).T).tobytes()
    )


@pytest.mark.parametrize("kind", [np.int16, np.uint16, np.int32, np.int64])
def test_integers_are_values(kind, model):
    x = RNG.integers(0, 2, (12, 12)).astype(kind)
    assert logits(model, x) == logits(model, model.encode(x.astype(np.float32)))


def test_encode_takes_quantized_values_by_name(model, model_path):
    x = RNG.integers(-128, 128, (12, 12)).astype(np.int8)
    expected = encode.encode(modelfile.read(model_path), x[None]).raw.tobytes()
    assert bytes(model.encode(x)) == expected
    assert bytes(model.encode(array("b", x.ravel().tolist()))) == expected


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (RAW.view(np.int8), r"holds int8: model\.encode\(x\).*uint8"),
        (memoryview(RAW.view(np.int8).ravel()), "holds int8"),
        (RAW > 9, "holds bool: 255 "),
        (RAW.astype(complex), "holds complex128: samples are uint8, floats or int16"),
        (RAW[:, :9], "takes 12 x 12 x 1"),
        (RAW.ravel()[:100], "144 bytes, not 100"),
        (RAW.astype(float), "of 144 values are outside of .* model.encode"),
    ],
)
def test_what_is_no_sample_is_refused(x, words, model):
    trainer = microzo.Trainer(model, "spsa")
    for use in (model.predict, lambda x: trainer.step(x, 0), lambda x: model.loss(x, 0)):
        with pytest.raises(ValueError, match=words):
            use(x)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: microzo.ArrayData(RAW.view(np.int8)[None], [0]), "int8"),
        (lambda: microzo.ArrayData(RAW[None] > 3, [0]), "bool"),
        (lambda: microzo.ArrayData([RAW, RAW[:6]], [0, 1]), "differ in shape"),
        (lambda: microzo.ArrayData([RAW, VALUES], [0, 1]), "differ in shape or kind"),
        (lambda: microzo.ArrayData([RAW, 3], [0, 1]), "differ"),
        (lambda: microzo.ArrayData(RAW[None], [0.5]), "labels are integers"),
        (lambda: microzo.ArrayData(VALUES[None]).read_into(0, bytearray(144)), "model=model"),
        (lambda: microzo.ArrayData(RAW[None].copy()).read_into(0, bytearray(9)), "the buffer 9"),
        (lambda: microzo.ArrayData("x.npy"), "a text"),
    ],
)
def test_what_is_no_source_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.fixture
def whole(model_path):
    """(float samples, labels, the same as raw bytes)"""
    x, y = small.arrays(model_path)
    x = x / 255
    return x, y, encode.encode(modelfile.read(model_path), x).raw


@pytest.mark.parametrize("how", ["array", "flat", "list", "model", "views"])
def test_values_train_as_their_bytes_do(how, whole, model_path):
    x, y, raw = whole
    states = []
    for given in (x, raw):
        model = microzo.load(model_path)
        options = {"model": model} if how == "model" else {}
        if how == "flat":
            given = given.ravel()
        elif how == "list":
            given = list(given)
        elif how == "views":
            given = np.repeat(given, 2, 2)[:, :, ::2]
        small.train(model, microzo.ArrayData(given, y, **options), small.short("head"))
        states.append(bytes(model.state))
    assert states[0] == states[1]


def test_another_model_has_another_scale(whole, model_path, tmp_path):
    """The values of a source are encoded for the model that asks, not for the first one."""
    x, y, _ = whole
    halved = modelfile.read(model_path)
    entry = json.loads(halved.metadata["input"])
    halved.metadata["input"] = json.dumps({**entry, "exp": entry["exp"] - 1})
    modelfile.write(tmp_path / "half.safetensors", halved)
    source, out = microzo.ArrayData(x, y), []
    for path in (model_path, tmp_path / "half.safetensors", model_path):
        source.check(microzo.load(str(path)))
        out.append(bytearray(144))
        source.read_into(0, out[-1])
    assert out[0] == out[2] != out[1]


def test_results(model):
    klass = model.predict(RAW)
    z = model.logits()
    for out in (array("i", [0] * 4), [0] * 4, np.zeros(4), np.zeros(4, np.int32)):
        assert model.logits(out) is out and list(out) == list(z)
    with pytest.raises(ValueError, match="out has 5 items"):
        model.logits([0] * 5)
    p = np.array(model.probabilities())
    expected = np.exp(np.array(z) / 4096)
    assert np.allclose(p, expected / expected.sum(), atol=1e-6) and p.argmax() == klass
