"""The scripts of device/examples as a user runs them: on CPython and on the unix port."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from array import array

import numpy as np
import pytest
import small

import microzo
from microzo_host.board import emulator, push

EXAMPLES = push.ROOT / "device" / "examples"
TESTED = {"live_button.py", "repl_tour.py", "train.py"} | {
    f"sensor_{name}.py" for name in ("accelerometer", "camera", "microphone")
}
TRAIN, TEST = 40, 20


def on_cpython(script, folder):
    path = os.pathsep.join(str(push.ROOT / name) for name in ("device", "host_tools"))
    done = subprocess.run(
        [sys.executable, script], cwd=folder, env={**os.environ, "PYTHONPATH": path},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def on_unix(script, folder):
    """The package as it is here, over the kernels that are built in."""
    return emulator.Unix(usermod=True, path=[push.ROOT / "device"]).run(script, cwd=folder)


@pytest.fixture(params=[on_cpython, on_unix])
def run(request, tmp_path):
    """run(name): what an example prints in the test's folder."""

    def example(name):
        return request.param(EXAMPLES / name, tmp_path).replace("\r", "")

    return example


@pytest.fixture
def folder(tmp_path, model_path):
    """The test's folder, with model.safetensors, training and test data."""
    shutil.copy(model_path, tmp_path / "model.safetensors")
    x, y = small.arrays(model_path, TRAIN + TEST)
    for part, rows in ("train", slice(TRAIN)), ("test", slice(TRAIN, None)):
        np.save(tmp_path / f"{part}_x.npy", x[rows])
        np.save(tmp_path / f"{part}_y.npy", y[rows])
    return tmp_path


def opened(folder, name, part):
    """(model, data) of a test's folder."""
    paths = (str(folder / f"{part}_{axis}.npy") for axis in "xy")
    return microzo.load(str(folder / name)), microzo.Dataset(*paths)


def test_every_example_is_tested():
    assert {path.name for path in EXAMPLES.iterdir()} == TESTED


def lines(text, start):
    """What follows `start` in the lines that begin with it."""
    return [line[len(start) :].strip() for line in text.splitlines() if line.startswith(start)]


def test_repl_tour(run, folder):
    text = run("repl_tour.py")
    model, data = opened(folder, "model.safetensors", "train")
    sample = bytearray(model.sample_len)
    label = data.read_into(0, sample)
    loss = model.loss(sample, label)
    assert lines(text, "class") == [f"{model.predict(sample)} label {label} loss {loss:.3f}"]
    model.input(sample)
    model.forward(0, 1)
    (values,) = lines(text, "first values of layer 0:")
    assert ast.literal_eval(values) == list(model.output(0))[:8]
    model.forward(1)
    (values,) = lines(text, "logits (1/4096 nats):")
    assert ast.literal_eval(values) == list(model.logits())
    signs = next(line for line in text.splitlines() if re.match(r"\[-?1,", line))
    assert set(ast.literal_eval(signs)) == {-1, 1}
    model.place([(0, 3)])
    model.input(sample)
    losses = array("i", (0, 0))
    params = array("i", (0, 42, label, 0, 3, 0, 1, 0))
    model.k.probe(model.plan, model.blob, model.state, model.arena, params, losses)
    high, low = (value / 4096 for value in losses)
    assert lines(text, "loss +") == [f"{high:.4f}, loss - {low:.4f}"]
    model.reset()
    steps = re.findall(r"^step (\d)/4 loss .*\(spsa\)$", text, re.M)
    assert steps == ["1", "2", "3", "4"]  # as many as the tour says
    outcomes = re.search(r"^\['realign .*'\]$", text, re.M)
    assert [line.split()[0] for line in ast.literal_eval(outcomes[0])] == [
        "realign", "refilter", "spsa",
    ]  # fmt: skip
    assert text.splitlines()[-2:] == ["back to the file's values", str(model.evaluate(data, 20))]


def test_train(run, folder):
    (folder / "settings.json").write_text('{"recipe": "forward_only", "steps": 3}')
    text = run("train.py")
    (result,) = (json.loads(line) for line in lines(text, "RESULT"))
    assert result["recipe"] == "forward_only" and result["seed"] == 1
    for name, told in ("model.safetensors", "before"), ("adapted.safetensors", "after"):
        model, data = opened(folder, name, "test")
        accuracy = model.evaluate(data)
        assert f"\n{told} {accuracy}\n" in text
        assert result[told] == round(100 * float(accuracy), 2)
    model, data = opened(folder, "model.safetensors", "train")
    steps = list(microzo.Trainer(model, "forward_only", seed=1).run(data, steps=3))
    assert result["steps"] == len(steps) and 3 <= len(lines(text, "step ")) <= 9
    assert len(text.splitlines()) <= 30
    model.save(str(folder / "expected.safetensors"))
    adapted, expected = (folder / f"{name}.safetensors" for name in ("adapted", "expected"))
    assert adapted.read_bytes() == expected.read_bytes()
    again = run("train.py")
    assert "the run of train.journal has finished" in again and not lines(again, "step ")
    assert json.loads(lines(again, "RESULT")[0])["after"] == result["after"]
