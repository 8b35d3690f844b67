"""The covariance of the input's patches: its values, where there is one, its place in a file."""

import json
import struct
from fractions import Fraction

import networks
import numpy as np
import pytest

from microzo.net import words as L
from microzo_host.model import file as modelfile
from microzo_host.model import patches, quantize, safetensors
from microzo_host.reference import batch


def quantized(shape=(7, 6, 2), kernel=(3, 2), n=20, **options):
    """(model, its calibration images) of networks.plain()."""
    net = networks.plain(shape, kernel, **options)
    x = networks.images(n, shape)
    return quantize.quantize(net, x), x


def square(triangle, k):
    """(K, K) of the stored lower triangle."""
    full = np.zeros((k, k), np.int64)
    for i in range(k):
        for j in range(i + 1):
            full[i, j] = full[j, i] = triangle[i * (i + 1) // 2 + j]
    return full


@pytest.fixture(scope="module")
def made():
    return quantized()


def slow(model, images):
    """The covariance by its definition: loops and fractions."""
    op, rows = model.ops[0], []
    for image in model.table[images].astype(int).tolist():
        for y in range(op.in_h - op.k_h + 1):
            for x in range(op.in_w - op.k_w + 1):
                patch = []
                for i in range(op.k_h):
                    for j in range(op.k_w):
                        patch += image[y + i][x + j]
                rows.append(patch)
    n, columns = len(rows), list(zip(*rows, strict=True))
    means = [Fraction(sum(c), n) for c in columns]
    result = []
    for i, a in enumerate(columns):
        for j, b in enumerate(columns[: i + 1]):
            mean = Fraction(sum(p * q for p, q in zip(a, b, strict=True)), n)
            result.append((256 * (mean - means[i] * means[j]) + Fraction(1, 2)).__floor__())
    return result


@pytest.mark.parametrize("batch", [patches.BATCH, 1, 70])
def test_values_are_those_of_the_definition(batch, made, monkeypatch):
    model, x = made
    monkeypatch.setattr(patches, "BATCH", batch)
    found = patches.covariance(model.ops[0], model.table[x])
    assert found.dtype == np.int32 and found.tolist() == slow(model, x)
    assert (found == model.covariance).all()


def test_the_input_table_counts():
    model, x = quantized()
    model.table = (model.table // 2).astype(np.int8)
    before = model.covariance
    quantize.store_statistics(model, x)
    assert model.covariance.tolist() == slow(model, x)
    assert (model.covariance[:3] < before[:3] // 3).all()


def test_the_order_is_that_of_the_weights(made):
    """w C w is the variance of the accumulators of stride 1 without padding."""
    model, x = made
    op = model.ops[0]
    k = op.row
    inner = modelfile.Op(
        "inner", L.CONV, in_h=7, in_w=6, in_c=2, k_h=3, k_w=2, out_h=5, out_w=5, out_c=4
    )
    inner.weight, inner.bias, inner.in_zp = op.weight, op.bias, op.in_zp
    acc = batch.accumulators(inner, model.table[x]).reshape(-1, 4)
    w = op.weight.reshape(4, k).astype(np.float64)
    found = np.einsum("ci,ij,cj->c", w, square(model.covariance, k) / 256, w)
    assert np.allclose(found, acc.var(0), rtol=1e-3)


def test_extreme_values_stay_exact():
    """Black and white halves have the largest variance there is, 127.5^2."""
    model, x = quantized((40, 40, 1), (8, 8))
    x = np.zeros((2, 40, 40, 1), np.uint8)
    x[1] = 255
    assert set(patches.covariance(model.ops[0], model.table[x])) == {int(127.5**2 * 256)}


@pytest.mark.parametrize(
    "shape, kernel, stored",
    [
        ((8, 8, 1), (8, 8), True),
        ((9, 8, 1), (9, 8), False),  # 72 values
        ((4, 4, 1), (1, 1), False),  # one value
        ((4, 4, 2), (1, 1), True),
        ((2, 4, 1), (3, 2), False),  # higher than the image
    ],
)
def test_where_there_is_one(shape, kernel, stored):
    model, _ = quantized(shape, kernel)
    k = kernel[0] * kernel[1] * shape[2]
    assert patches.has_covariance(model.ops[0]) == stored
    if stored:
        assert len(model.covariance) == k * (k + 1) // 2
    else:
        assert model.covariance is None
    assert bool(modelfile.plan(model)[L.COV_OFF]) == stored


def test_none_of_images_that_are_all_the_same_grey():
    net = networks.plain()
    model = quantize.quantize(net, np.full((5, 7, 6, 2), 90, np.uint8))
    assert model.covariance is None


def test_none_where_the_input_is_padded_first():
    net = networks.residual()
    assert quantize.quantize(net, networks.images(8, net.input_shape)).covariance is None


def test_its_place_in_the_file(made, tmp_path):
    model, _ = made
    path = tmp_path / "m.safetensors"
    modelfile.write(path, model)
    raw = path.read_bytes()
    (length,) = struct.unpack_from("<Q", raw)
    header = json.loads(raw[8 : 8 + length])
    entry, plan_end = header["input.covariance"], header["plan"]["data_offsets"][1]
    begin, end = entry["data_offsets"]
    assert (entry["dtype"], entry["shape"]) == ("I32", [12 * 13 // 2])
    assert list(header)[-1] == "input.covariance"
    plan = np.frombuffer(raw, "<i4", L.HEADER_WORDS, 8 + length)
    assert plan[L.COV_OFF] == plan[19] == begin - plan_end > 0
    assert plan[L.BLOB_LEN] == end - plan_end
    again = modelfile.read(path)
    assert again.covariance.dtype == np.int32
    assert (again.covariance == model.covariance).all()
    assert modelfile.pack(again) == raw


def test_a_file_of_before_is_read_as_it_was(made):
    model = modelfile.unpack(modelfile.pack(made[0]))
    model.covariance = None
    raw = modelfile.pack(model)
    assert b"covariance" not in raw and modelfile.plan(model)[L.COV_OFF] == 0
    again = modelfile.unpack(raw)
    assert again.covariance is None and modelfile.pack(again) == raw


@pytest.mark.parametrize(
    "array",
    [np.zeros(77, np.int32), np.zeros(79, np.int32), np.zeros(78, np.int64), np.zeros((1, 78))],
)
def test_a_wrong_covariance_is_not_written(made, array):
    model = modelfile.unpack(modelfile.pack(made[0]))
    model.covariance = array
    with pytest.raises(ValueError, match="covariance of patches is no int32 of length 78"):
        modelfile.pack(model)


def test_a_covariance_of_another_operator_is_not_written():
    net = networks.residual()
    model = quantize.quantize(net, networks.images(8, net.input_shape))
    k = model.ops[0].row
    model.covariance = np.ones(k * (k + 1) // 2, np.int32)
    with pytest.raises(ValueError, match=r"operator 0 \(PAD\) cannot have a covariance"):
        modelfile.pack(model)


@pytest.mark.parametrize("offset", [-4, 2, 1 << 20])
def test_a_word_that_points_elsewhere_is_refused(made, offset):
    tensors, metadata = modelfile._tensors(made[0])
    plan = tensors["plan"]
    plan[L.COV_OFF] = offset
    plan[L.PLAN_CRC] = 0
    plan[L.PLAN_CRC] = modelfile._crc(plan.tobytes())
    with pytest.raises(ValueError, match="covariance of patches points outside the data"):
        modelfile.unpack(safetensors.pack(tensors, metadata))
