"""docs/howto/ulab.md runs as it is written: on NumPy, and on ulab itself if ULAB_DIR names its
tree. Its network is trained here, on the features of the page."""

import os
import pathlib
import random
import re

import numpy as np
import pytest
import ulab_port

from microzo_host import place
from microzo_host.board import emulator
from microzo_host.model import file as modelfile
from microzo_host.model import quantize
from microzo_host.model.network import Layer, Network

PAGE = pathlib.Path(place.CLONE, "docs", "howto", "ulab.md")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
HIDDEN = 12


def trained(x, y):
    """Weights of 48 inputs, HIDDEN units with ReLU and 3 classes, by gradient descent."""
    rng = np.random.default_rng(0)
    first, second = rng.normal(0, 0.5, (HIDDEN, 48)), rng.normal(0, 0.5, (3, HIDDEN))
    for _ in range(400):
        hidden = np.maximum(0, x @ first.T)
        z = np.exp(hidden @ second.T)
        error = (z / z.sum(1, keepdims=True) - np.eye(3)[y]) / len(x)
        back = (error @ second) * (hidden > 0)
        second -= 2 * error.T @ hidden
        first -= 2 * back.T @ x
    return first, second


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with motion.safetensors, trained while all motion had half of its strength."""
    names = {}
    exec(BLOCKS[0] + BLOCKS[1], names)
    random.seed(1)
    y = np.arange(240) % 3
    x = np.array([names["features"](names["window"](i)) / 2 for i in y])
    first, second = trained(x.reshape(240, 48), y)
    layers = [
        Layer("conv", "hidden", (0,), first.reshape(HIDDEN, 3, 16, 1).astype(np.float32),
              np.zeros(HIDDEN, np.float32), pads=(0, 0, 0, 0), activation="relu"),
        Layer("dense", "head", (1,), second.reshape(3, 1, 1, HIDDEN).astype(np.float32),
              np.zeros(3, np.float32)),
    ]  # fmt: skip
    pixels = np.clip(255 * x, 0, 255).round().astype(np.uint8)[..., None]
    made = tmp_path_factory.mktemp("motion")
    network = Network((3, 16, 1), layers, "motion")
    modelfile.write(made / "motion.safetensors", quantize.quantize(network, pixels))
    return made


def check(said):
    assert re.search(r"^step \d+/\d+ loss", said, re.M)
    shares = [float(v) for v in re.findall(r"([\d.]+) % of 48", said)]
    assert len(shares) == 3 and shares[1] >= 95 and shares[1] >= shares[0]
    assert "motion 2 " in said


def test_on_numpy(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    random.seed(2)
    exec("\n".join(BLOCKS), {})
    check(capsys.readouterr().out)


@pytest.mark.slow
@pytest.mark.skipif(not ulab_port.ULAB, reason="set ULAB_DIR to a tree of ulab")
def test_on_ulab(folder, tmp_path, monkeypatch):
    script = tmp_path / "page.py"
    script.write_text("import random\nrandom.seed(2)\n" + "\n".join(BLOCKS))
    monkeypatch.setenv("MICROZO_UNIX", os.fspath(ulab_port.build("ulab")))
    unix = emulator.Unix(path=[place.CLONE / "device"], heap="4M")
    said = unix.run(script, cwd=folder)
    check(said)
    assert "array(" in said and "pure-Python" not in said
