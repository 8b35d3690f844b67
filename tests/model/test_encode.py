"""Samples become the bytes of a model: scale, zero point, order of axes, clipped values."""

import pathlib
from array import array

import numpy as np
import pytest
from click.testing import CliRunner

import microzo
from microzo_host import cli
from microzo_host.model import checks, encode, names, netfile
from microzo_host.model import file as modelfile

pytest.importorskip("onnx", reason="the package onnx reads the files")
pytest.importorskip("onnxruntime", reason="its builder's import")
from onnx_build import Builder  # noqa: E402

from microzo_host.importers import import_model  # noqa: E402

SHAPE = (3, 7, 6)  # channels, rows, columns


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A convolution imported from ONNX, channels first, whose inputs are -2 to 3."""
    b = Builder(SHAPE)
    b.conv(4, 3)
    b.op("GlobalAveragePool")
    b.op("Flatten")
    b.dense(2, 4)
    path = tmp_path_factory.mktemp("model") / "net.onnx"
    path.write_bytes(b.pack())
    calib = np.random.default_rng(0).uniform(-2, 3, (40, *SHAPE)).astype(np.float32)
    made = import_model(path, calib)
    names.put(made, ["häuser", 'the "other"'])
    return made


@pytest.fixture(scope="module")
def file(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "net.safetensors"
    modelfile.write(path, model)
    return str(path)


def real(model, raw):
    return (model.table[raw].astype(float) - model.in_zp) * model.scales[0]


def test_bytes_stand_for_the_nearest_values(model):
    x = np.random.default_rng(1).uniform(-2, 3, (5, 7, 6, 3))
    result = encode.encode(model, x)
    inside = (x > -1.99) & (x < 2.99)
    error = np.abs(real(model, result.raw) - x)[inside]
    assert error.max() < 0.502 * model.scales[0] and result.raw.dtype == np.uint8


def test_clipped_values_are_counted(model):
    x = np.zeros((2, 7, 6, 3))
    x[0, 0, 0] = 50
    x[1, 0, 0, 0] = -50
    result = encode.encode(model, x)
    assert (result.clipped, result.values) == (4, 2 * 126)


def test_integers_and_raw_bytes(model):
    counts = np.random.default_rng(2).integers(-2, 4, (4, 7, 6, 3))
    same = encode.encode(model, counts.astype(np.float32)).raw
    assert (encode.encode(model, counts.astype(np.int16)).raw == same).all()
    raw = np.random.default_rng(2).integers(0, 256, (4, 7, 6, 3)).astype(np.uint8)
    assert (encode.encode(model, raw).raw == raw).all()


def test_the_order_of_the_file_becomes_ours(model):
    ours = np.random.default_rng(3).uniform(-2, 3, (4, 7, 6, 3)).astype(np.float32)
    theirs = np.ascontiguousarray(ours.transpose(0, 3, 1, 2))
    assert (encode.encode(model, theirs).raw == encode.encode(model, ours).raw).all()


@pytest.mark.parametrize("shape", [(6, 7, 3), (7, 3, 6), (126,), (3, 6, 7), (7, 6)])
def test_other_orders_are_refused_by_shape(model, shape):
    with pytest.raises(ValueError, match="the model takes 7 x 6 x 3.*or 3 x 7 x 6"):
        encode.encode(model, np.zeros((2, *shape)))


def test_what_is_no_number_is_refused(model):
    bad = np.zeros((2, 7, 6, 3))
    bad[1, 2, 3, 1] = np.nan
    with pytest.raises(ValueError, match="finite"):
        encode.encode(model, bad)


def test_a_board_encodes_alike(model, file):
    loaded = microzo.load(file)
    rng = np.random.default_rng(4)
    for scale in (0.001, 1, 3):
        x = (rng.normal(0, scale, (7, 6, 3))).astype(np.float32)
        expected = encode.encode(model, x[None])
        out = bytearray(126)
        for values in (x.tolist(), array("f", x.reshape(-1).tolist()), x):
            assert loaded.encode(values, out) is out
            assert bytes(out) == expected.raw.tobytes() and loaded.clipped == expected.clipped
    whole = rng.integers(-3, 4, 126)
    assert (
        loaded.encode(whole.tolist())
        == encode.encode(model, whole.reshape(1, 7, 6, 3)).raw.tobytes()
    )
    with pytest.raises(ValueError, match="126 values a sample, not 5"):
        loaded.encode([1, 2, 3, 4, 5])


def test_every_table_is_turned_round_alike(model):
    from microzo.net import encode as board

    rng = np.random.default_rng(5)
    tables = [np.sort(rng.integers(-128, 128, 256)).astype(np.int8) for _ in range(20)]
    for table in (*tables, np.arange(-128, 128).astype(np.int8), np.zeros(256, np.int8)):
        raw = memoryview(table.tobytes())
        assert bytes(board._inverse(raw)) == encode.inverse(table).tobytes()


def test_names_of_classes_are_read_on_a_board(file):
    loaded = microzo.load(file)
    assert loaded.names() == ["häuser", 'the "other"'] and "häuser" in repr(loaded)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("cat\ndog\n", ["cat", "dog"]), ("0 cat\n1 big dog\n", ["cat", "big dog"]),
        ('["a", "b"]', ["a", "b"]), ("1 cat\n2 dog\n", ["1 cat", "2 dog"]),
    ],
)  # fmt: skip
def test_files_of_labels(text, expected):
    assert names.parse(text, "labels.txt") == expected


def test_the_commands(file, tmp_path):
    x, out = tmp_path / "x.npy", tmp_path / "raw.npy"
    np.save(x, np.random.default_rng(6).uniform(-2, 3, (5, *SHAPE)))
    result = CliRunner().invoke(cli.main, ["encode", str(x), file, "-o", str(out)])
    assert result.exit_code == 0 and "5 samples of 7x6x3" in result.output
    assert np.load(out).shape == (5, 7, 6, 3) and "warning" not in result.output
    np.save(x, np.random.default_rng(6).uniform(0, 255, (5, *SHAPE)))
    result = CliRunner().invoke(cli.main, ["encode", str(x), file, "-o", str(out), "--force"])
    assert "warning: the model knows -2" in result.output
    result = CliRunner().invoke(cli.main, ["show", file])
    assert result.exit_code == 0
    for part in ("7 x 6 x 3", "its file took 3 x 7 x 6", "0 häuser", "CONV", "yes"):
        assert part in result.output


def test_data_are_checked_by_shape(model, tmp_path):
    x, y = tmp_path / "x.npy", tmp_path / "y.npy"
    np.save(y, np.zeros(4, np.uint8))
    np.save(x, np.zeros((4, 3, 7, 6), np.uint8))
    with pytest.raises(ValueError, match="samples of 3x7x6, the model takes 7x6x3"):
        checks.data(x, y, model)
    loaded_shape = np.zeros((4, 7, 6, 3), np.uint8)
    np.save(x, loaded_shape)
    assert checks.data(x, y, model)[0].shape == (4, 7, 6, 3)


def test_a_dataset_is_checked_by_shape(file, tmp_path):
    loaded = microzo.load(file)
    x = str(tmp_path / "x.npy")
    for shape, right in (((4, 7, 6, 3), True), ((4, 3, 7, 6), False), ((4, 126), True)):
        np.save(x, np.zeros(shape, np.uint8))
        data = microzo.Dataset(x)
        if right:
            data.check(loaded)
        else:
            with pytest.raises(ValueError, match="rows, columns, channels"):
                data.check(loaded)


def test_quantized_networks_tell_their_input(tmp_path):
    from networks import images, residual

    from microzo_host.model import quantize

    net = residual()
    path = str(tmp_path / "m.safetensors")
    modelfile.write(path, quantize.quantize(net, images(8, net.input_shape)))
    loaded = microzo.load(path)
    values = np.linspace(0, 1, loaded.sample_len)
    assert max(abs(a - b) for a, b in zip(loaded.encode(values), values * 255)) <= 0.51
    assert pathlib.Path(path).is_file() and netfile
