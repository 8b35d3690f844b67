"""Layer by layer comparison with TFLite and with floats, and the commands that use it."""

import io
import json
import sys

import networks
import numpy as np
import pytest
from click.testing import CliRunner

from microzo_host import cli
from microzo_host import reference as oracle
from microzo_host.importers import import_model
from microzo_host.model import file as modelfile
from microzo_host.model import quantize
from microzo_host.reference import compare, layerwise
from microzo_host.report import tables

NEEDED = dict(reason="LiteRT is the reference")


@pytest.fixture
def float_model():
    net = networks.residual()
    return net, quantize.quantize(net, networks.images(64, net.input_shape))


def small_tflite(path):
    """A .tflite of two layers at ``path``."""
    pytest.importorskip("tflite", reason="the package tflite reads the files")
    pytest.importorskip("ai_edge_litert", **NEEDED)
    from tflite_graphs import Graphs

    g = Graphs(1, [1, 6, 5, 3])
    g.conv(4, (3, 3))
    g.dense(3)
    path.write_bytes(g.pack())
    return path


def test_floats_give_a_ratio_for_every_layer(float_model):
    net, model = float_model
    rows = compare.compare(model, net, networks.images(8, net.input_shape))
    assert [row.name for row in rows] == [layer.name for layer in net.layers]
    assert all(row.differing is None and 15 < row.snr <= compare.EXACT for row in rows)


def test_a_spoilt_layer_is_seen_where_it_is(float_model):
    net, model = float_model
    model.ops[3].weight[:] = -model.ops[3].weight
    rows = compare.compare(model, net, networks.images(8, net.input_shape), oracle)
    assert min(row.snr for row in rows[:3]) > 15 and rows[3].snr < 5


def test_another_network_is_refused(float_model):
    net, model = float_model
    other = quantize.quantize(net, networks.images(64, net.input_shape))
    other.ops = other.ops[:-1]
    with pytest.raises(ValueError, match="compare a model with the network"):
        compare._against_float(other, net, networks.images(1, net.input_shape), None)


def test_samples_that_do_not_fit_are_refused(float_model):
    net, model = float_model
    with pytest.raises(ValueError, match="the model takes"):
        compare.compare(model, net, np.zeros((4, 3, 3, 1), np.uint8))


def test_tflite_has_no_difference_and_a_changed_bias_has(tmp_path):
    path = small_tflite(tmp_path / "net.tflite")
    model, x = import_model(path), np.random.default_rng(0).integers(-128, 128, (6, 6, 5, 3))
    rows = compare.compare(model, path, x.astype(np.int8))
    assert [(row.differing, row.largest) for row in rows] == [(0, 0), (0, 0)]
    again = modelfile.unpack(modelfile.pack(model))
    again.ops[0].bias[0] += 5000
    rows = compare.compare(again, path, x.astype(np.int8))
    assert rows[0].differing > 0 and rows[0].largest > 0


def test_a_model_of_another_origin_is_refused(float_model, tmp_path):
    _, model = float_model
    path = small_tflite(tmp_path / "net.tflite")
    with pytest.raises(ValueError, match="not imported from"):
        compare.compare(model, path, np.zeros((1, 9, 7, 2), np.uint8))


def test_without_litert_the_error_says_what_to_install(tmp_path, monkeypatch):
    path = small_tflite(tmp_path / "net.tflite")
    model = import_model(path)
    monkeypatch.setitem(sys.modules, "ai_edge_litert.interpreter", None)
    with pytest.raises(ImportError, match=r"LiteRT: run `make test-packages`"):
        compare.compare(model, path, np.zeros((1, 6, 5, 3), np.uint8))


def test_operators_one_by_one_give_what_a_whole_pass_gives(float_model):
    net, model = float_model
    runner = layerwise.Runner(model, oracle)
    for sample in networks.images(3, net.input_shape):
        outputs, logits = runner.run(sample)
        assert np.array_equal(logits, runner.logits(sample))
        assert np.array_equal(outputs[-1], runner.last(sample))


def run(*args):
    return CliRunner().invoke(cli.main, [str(a) for a in args])


def test_the_commands(tmp_path):
    path, model, x = (
        small_tflite(tmp_path / "net.tflite"),
        tmp_path / "m.safetensors",
        tmp_path / "x.npy",
    )
    np.save(x, np.random.default_rng(0).integers(0, 256, (40, 6, 5, 3)).astype(np.uint8))
    result = run("import", path, "-o", model, "--calib", x)
    assert result.exit_code == 0 and "2 operators" in result.output
    assert modelfile.read(model).ops[0].stats is not None
    result = run("import", path, "-o", model)
    assert result.exit_code == 1 and "exists" in result.output
    result = run("import", path, "-o", model, "--force", "--json", "-")
    assert "realign is not available" in json.loads(result.output)["notes"][-1]
    result = run("compare", model, path, x, "-n", 5, "--json", "-")
    rows = json.loads(result.output)
    assert [row["differing"] for row in rows] == [0, 0] and rows[0]["values"] == 5 * 120
    assert "differ" in run("compare", model, path, x).output


def test_the_command_refuses_other_files(tmp_path):
    path = tmp_path / "net.h5"
    path.write_bytes(b"keras")
    result = run("import", path, "-o", tmp_path / "m.safetensors")
    assert result.exit_code == 1 and "neither .tflite nor .onnx" in result.output


def test_the_summary_names_every_layer(float_model):
    import rich.console

    net, model = float_model
    console = rich.console.Console(width=120, record=True, file=io.StringIO())
    console.print(tables.layers(model))
    text = console.export_text()
    assert all(layer.name in text for layer in net.layers) and "CONV" in text
