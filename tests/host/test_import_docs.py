"""The commands of docs/import.md, in their order."""

import pathlib
import re
import shlex

import numpy as np
import pytest
from click.testing import CliRunner

from microzo_host import cli
from microzo_host.importers import tflite

for package in ("tflite", "ai_edge_litert", "onnx", "onnxruntime"):
    pytest.importorskip(package, reason="the extra `models` is not installed")
from onnx_build import Builder  # noqa: E402
from tflite_graphs import Graphs  # noqa: E402

TEXT = (pathlib.Path(__file__).parents[2] / "docs" / "import.md").read_text()
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
    commands = re.findall(r"^microzo (.*)$", TEXT, re.M)
    assert len(commands) == 4
    for command in commands:
        result = CliRunner().invoke(cli.main, shlex.split(command))
        assert result.exit_code == 0, result.output


def test_every_operator_is_in_the_table():
    named = set(re.findall(r"[A-Z][A-Z0-9_]+", TEXT))
    assert set(tflite.HANDLERS) <= named
