"""The commands of docs/howto/import-your-model.md, in their order."""

import json
import pathlib
import re
import shlex
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from microzo_host import cli, extras
from microzo_host.importers import onnx_file, tflite
from microzo_host.model import file as modelfile
from microzo_host.reference import compare
from microzo_host.report import tables

for package in ("tflite", "ai_edge_litert", "onnx", "onnxruntime"):
    pytest.importorskip(package, reason="the extra `models` is not installed")
from onnx_build import Builder  # noqa: E402
from tflite_graphs import Graphs  # noqa: E402

DOCS = pathlib.Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "howto" / "import-your-model.md").read_text()
SHAPE = 8, 7, 3


def test_the_commands_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    graphs = Graphs(1, [1, *SHAPE])
    graphs.conv(4, (3, 3))
    graphs.dense(3)
    pathlib.Path("net.tflite").write_bytes(graphs.pack())
    net = Builder([SHAPE[2], *SHAPE[:2]])
    net.conv(4, 3)
    net.op("Relu")
    net.op("GlobalAveragePool")
    net.op("Flatten")
    net.dense(3, 4)
    pathlib.Path("net.onnx").write_bytes(net.pack())
    for name in ("calib.npy", "x.npy"):
        np.save(name, np.random.default_rng(0).integers(0, 256, (70, *SHAPE)).astype(np.uint8))
    np.save("real.npy", np.random.default_rng(0).uniform(0, 1, (5, *SHAPE)))
    commands = re.findall(r"^microzo (.*)$", TEXT, re.M)
    assert len(commands) == 6
    for command in commands:
        result = CliRunner().invoke(cli.main, shlex.split(command))
        assert result.exit_code == 0, result.output
        if command.startswith("import") and "--calib" in command:
            made = modelfile.read(re.search(r"-o (\S+)", command)[1])
            assert len(made.covariance) == 27 * 28 // 2, command


def test_packages_that_are_missing_are_named_as_in_the_docs():
    assert "pip install" in TEXT
    for hint in re.findall(r"`([^`]*)`", str(extras.missing("x", "models"))):
        assert f"`{hint}`" in TEXT


@pytest.mark.parametrize("hidden", ["onnx", "ai_edge_litert.interpreter"])
def test_a_missing_package_is_told(hidden, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, hidden, None)
    with pytest.raises(ImportError, match="make test-packages"):
        onnx_file.package() if hidden == "onnx" else compare.Reference("net.tflite", None)


@pytest.mark.parametrize("option", [("--ranges", "mse"), ("--input-range", "0", "1")])
def test_options_of_onnx_are_refused_for_tflite(option, tmp_path):
    path = tmp_path / "net.tflite"
    path.write_bytes(b"")
    arguments = ["import", str(path), "-o", str(tmp_path / "out"), *option]
    result = CliRunner().invoke(cli.main, arguments)
    assert result.exit_code == 2 and f"{option[0]} is for .onnx files" in result.stderr


def test_the_table_counts_as_the_plan_does(tmp_path, monkeypatch):
    graphs = Graphs(1, [1, *SHAPE])
    graphs.conv(4, (3, 3))
    graphs.pool("AVERAGE_POOL_2D", (2, 2), (2, 2))
    graphs.dense(3)
    path, out = tmp_path / "net.tflite", tmp_path / "net.safetensors"
    path.write_bytes(graphs.pack())
    result = CliRunner().invoke(cli.main, ["import", str(path), "-o", str(out)])
    assert result.exit_code == 0, result.output
    plan = CliRunner().invoke(cli.main, ["plan", str(out), "--recipe", "head", "--json", "-"])
    layers = json.loads(plan.stdout)["layers"]
    assert [layer["kind"] for layer in layers] == ["CONV", "AVGPOOL", "DENSE"]
    made = tables.layers(modelfile.read(out))
    (macs,) = (list(column.cells) for column in made.columns if column.header == "MACs")
    assert macs == [f"{layer['macs']:,}" for layer in layers] and "0" not in macs


def test_every_operator_is_in_the_table():
    named = set(re.findall(r"[A-Z][A-Z0-9_]+", TEXT))
    assert set(tflite.HANDLERS) <= named
