"""`microzo show --draw`: the network, samples, corruptions side by side."""

import re
import xml.etree.ElementTree as ET

import networks
import numpy as np
import pytest
from click.testing import CliRunner

from microzo_host import cli
from microzo_host.data import corruptions
from microzo_host.model import file as modelfile
from microzo_host.model import quantize
from microzo_host.report import gallery, network

SVG = "{http://www.w3.org/2000/svg}"


def show(*arguments):
    return CliRunner().invoke(cli.main, ["show", *map(str, arguments)])


def quantized(net):
    return quantize.quantize(net, networks.images(40, net.input_shape))


def test_every_operator_is_drawn_with_its_inputs():
    model = quantized(networks.residual())
    drawing = network.svg(model)
    root = ET.fromstring(drawing)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert [op.name for op in model.ops] == [t for t in texts if t in {o.name for o in model.ops}]
    inputs = len(model.ops) + sum(op.in2 >= 0 for op in model.ops)
    assert len(list(root.iter(f"{SVG}path"))) == inputs
    assert len(list(root.iter(f"{SVG}rect"))) == len(model.ops) + 2  # ground, input
    assert "nan" not in drawing


def test_names_in_a_file_are_text_in_the_drawing():
    model = quantized(networks.plain())
    model.ops[0].name = "<&\x1b[2J"
    texts = [text.text for text in ET.fromstring(network.svg(model)).iter(f"{SVG}text")]
    assert "<&\\x1b[2J" in texts


def test_a_long_network_goes_on_in_another_row():
    net = networks.residual()
    model = quantized(net)
    model.ops = [model.ops[0]] * network.ROW + model.ops[1:]
    root = ET.fromstring(network.svg(model))
    width, height = map(int, root.get("viewBox").split()[2:])
    for rect in root.iter(f"{SVG}rect"):
        if rect.get("x"):
            assert 0 <= float(rect.get("x")) <= width - float(rect.get("width"))
            assert 0 <= float(rect.get("y")) <= height - float(rect.get("height"))
    assert height > 2 * network.HIGH


def test_the_drawing_alone(model_path, tmp_path):
    result = show(model_path, "--draw", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["network.svg"]
    drawing = (tmp_path / "out" / "network.svg").read_text()
    assert drawing == network.svg(modelfile.read(model_path))
    assert re.findall(r"(?:href|src)=", drawing) == []


def test_samples_and_corruptions(model_path, data_paths, tmp_path):
    pytest.importorskip("matplotlib", reason="the extra `report` is not installed")
    result = show(model_path, "--draw", tmp_path, "--samples", *data_paths, "--corruptions")
    assert result.exit_code == 0, result.output
    names = ["network.svg", "samples.png", "corruptions.png"]
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(names)
    assert f"{tmp_path}: {', '.join(names)}" in result.output
    sizes = {}
    for name in names[1:]:
        data = (tmp_path / name).read_bytes()
        assert data[:4] == b"\x89PNG"
        sizes[name] = int.from_bytes(data[16:20], "big")
    assert sizes["corruptions.png"] > 100 * len(corruptions.NAMES)


def test_samples_of_every_class_are_chosen():
    y = np.array([0, 0, 0, 2, 1, 1])
    assert gallery._spread(y, 4).tolist() == [0, 4, 3, 1]
    assert gallery._spread(y, 99).tolist() == [0, 4, 3, 1, 5, 2]


def test_what_does_not_fit_is_told(model_path, data_paths, tmp_path):
    assert show(model_path, "--corruptions").exit_code == 2
    assert show(model_path, "--samples", *data_paths).exit_code == 2
    path = tmp_path / "two.safetensors"
    modelfile.write(path, quantized(networks.residual()))
    x = networks.images(4, (9, 7, 2))
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", np.zeros(4, np.uint8))
    files = tmp_path / "x.npy", tmp_path / "y.npy"
    result = show(path, "--draw", tmp_path / "out", "--samples", *files, "--corruptions")
    assert result.exit_code == 1
    assert "corruptions are for images of 1 or 3 channels, this model takes 9 x 7 x 2" in (
        result.output
    )
