"""The pages for Keras, PyTorch, scikit-learn and Edge Impulse: their code and their commands.

Where the package of a page is not installed, a file that it wrote takes the place of its code.
"""

import pathlib
import re
import shlex
import shutil
import zipfile

import pytest
from click.testing import CliRunner

from microzo_host import cli
from microzo_host.model import file as modelfile

for package in ("tflite", "ai_edge_litert", "onnx", "onnxruntime"):
    pytest.importorskip(package, reason="the extra `models` is not installed")
ROOT = pathlib.Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
# Page: (files that its code makes, their stand-ins, packages of its second block of code)
PAGES = {
    "keras": ({"net.tflite": "keras.tflite"}, ["tensorflow"]),
    "pytorch": (
        {
            "net.onnx": "pytorch.onnx", "net.onnx.data": "pytorch.onnx.data",
            "old.onnx": "pytorch-old.onnx",
        },
        ["torch", "onnxscript"],
    ),
    "scikit-learn": ({"net.onnx": "scikit-learn.onnx"}, ["sklearn", "skl2onnx"]),
    "edge-impulse": ({"net.lite": "edge-impulse.lite"}, None),
}  # fmt: skip
LEAST = {"keras": 90, "pytorch": 90, "scikit-learn": 80, "edge-impulse": 90}  # percent right


def installed(packages):
    for package in packages or ["no such package"]:
        try:
            __import__(package)
        except ImportError:
            return False
    return True


def invoke(command):
    result = CliRunner().invoke(cli.main, shlex.split(command))
    assert result.exit_code == 0, f"{command}: {result.output}"
    return result.output


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("stand_in", [True, False])
def test_a_page_runs(page, stand_in, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files, packages = PAGES[page]
    if not stand_in and not installed(packages):
        pytest.skip(f"{', '.join(packages or ['its service'])}: not on this machine")
    text = (ROOT / "docs" / "howto" / f"{page}.md").read_text()
    names = {}
    for code in re.findall(r"```python\n(.*?)```", text, re.S)[: 1 if stand_in else None]:
        exec(compile(code, page, "exec"), names)
    if stand_in:
        for name, source in files.items():
            shutil.copyfile(DATA / source, name)
    for command in re.findall(r"^microzo (.*)$", text, re.M):
        output = invoke(command)
        if command.startswith("compare") and page in ("keras", "edge-impulse"):
            last = [line.split() for line in output.splitlines() if " % " in line]
            assert last and all(row[-2] == "0" for row in last), output
        if command.startswith("eval"):
            assert float(output.split()[0]) >= LEAST[page], output


def test_class_names_travel_in_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("labels.txt").write_text("0 Red\n1 Green\n2 Blue\n")
    invoke(f"import {DATA / 'edge-impulse.lite'} -o net.safetensors --classes labels.txt")
    assert modelfile.read("net.safetensors").metadata["classes"] == '["Red", "Green", "Blue"]'
    assert "0 Red, 1 Green, 2 Blue" in invoke("show net.safetensors")
    wrong = f"import {DATA / 'edge-impulse.lite'} -o other.safetensors --classes a,b"
    result = CliRunner().invoke(cli.main, shlex.split(wrong))
    assert result.exit_code == 1 and "2 class names are given, the model has 3" in result.stderr


def test_labels_inside_a_file_are_taken(tmp_path, monkeypatch):
    """TFLite's metadata is a zip behind the network."""
    monkeypatch.chdir(tmp_path)
    shutil.copyfile(DATA / "edge-impulse.lite", "net.tflite")
    with zipfile.ZipFile("net.tflite", "a") as packed:
        packed.writestr("labels.txt", "red\ngreen\nblue\n")
    assert "3 classes: red, green, blue" in invoke("import net.tflite -o net.safetensors")
