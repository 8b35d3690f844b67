"""Imported models give LiteRT's reference bits on the unix port and on the board."""

import json
import re

import numpy as np
import pytest

from microzo_host.board import emulator, errors, push
from microzo_host.board import romfs as romfs_image
from microzo_host.demo import session
from microzo_host.importers import import_model
from microzo_host.model import file as modelfile
from microzo_host.reference import layerwise

pytest.importorskip("tflite", reason="the package tflite reads the files")
pytest.importorskip("ai_edge_litert", reason="LiteRT is the reference")

from tflite_build import Reference  # noqa: E402
from tflite_graphs import Graphs  # noqa: E402

ROOT = push.ROOT
SHARED = ROOT.parent / "shared"
SCRIPT = """
import microzo
model = microzo.load({model!r})
sample = bytearray(model.sample_len)
with open({samples!r}, "rb") as file:
    while file.readinto(sample):
        model.predict(sample)
        print("RESULT", [list(model.logits()), list(model.output(model.ops - 1))])
"""


def every_operator():
    """A graph with the operators that the demo network does not have."""
    g = Graphs(21, [1, 12, 10, 3], zero_point=-128)
    g.pad((1, 1, 1, 1))
    first = g.conv(6, (3, 3), (2, 2), 1, 1)
    g.depthwise(1, (3, 3))
    second = g.binary("SUB", first, 1)
    g.mean()
    gate = g.unary("LOGISTIC", -128, 1 / 256)
    g.x = second
    g.binary("MUL", gate)
    third = g.x
    g.conv(6, (1, 1))
    g.b.tensors[g.x].quantization = g.b.tensors[third].quantization
    g.concatenate([third, g.x], 3)
    g.unary("HARD_SWISH", scale=g.scale() * 1.5)
    g.mean(keep=False)
    g.dense(7)
    return g.pack()


def content(name):
    if name == "every operator":
        return every_operator()
    path = SHARED / "models" / f"{name}_int8.tflite"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    return path.read_bytes()


class Case:
    """A model, some raw samples, and what LiteRT and the host's kernels make of them."""

    def __init__(self, name, folder, count):
        raw = content(name)
        self.tflite, self.path = folder / "net.tflite", folder / "model.safetensors"
        self.tflite.write_bytes(raw)
        model = import_model(self.tflite)
        modelfile.write(self.path, model)
        shape = (count, model.in_h, model.in_w, model.in_c)
        self.samples = np.random.default_rng(3).integers(0, 256, shape).astype(np.uint8)
        reference, runner = Reference(raw), layerwise.Runner(model)
        last = json.loads(model.metadata["tensors"])[-1]
        self.wanted = [
            [
                runner.logits(x).tolist(),
                reference(x.astype(np.int16) - 128, last).reshape(-1).tolist(),
            ]
            for x in self.samples
        ]

    def check(self, printed):
        found = [json.loads(line) for line in re.findall(r"^RESULT (.*?)\r?$", printed, re.M)]
        assert found == self.wanted


NATIVE = [("natmod", name) for name in ("every operator", "ad01", "kws", "resnet8_cifar10")]


@pytest.mark.parametrize("kind, name", [*NATIVE, ("python", "every operator")])
def test_on_the_unix_port(kind, name, tmp_path):
    module = ROOT / "build" / "natmod" / "x64"
    if kind == "natmod" and not (module / "_microzo.mpy").exists():
        pytest.skip("build/natmod/x64/_microzo.mpy is missing: run `make natmod`")
    case = Case(name, tmp_path, 4)
    (tmp_path / "samples").write_bytes(case.samples.tobytes())
    path = [ROOT / "device"] + ([module] if kind == "natmod" else [])
    try:
        unix = emulator.Unix(heap="8M", path=path)
    except errors.EmulatorError as error:
        pytest.skip(str(error))
    names = {"model": str(case.path), "samples": str(tmp_path / "samples")}
    case.check(unix.run(SCRIPT.format(**names).encode(), timeout=300))


@pytest.mark.parametrize("name", ["every operator", "kws", "resnet8_cifar10"])
def test_on_the_board(name, builds, new_board, tmp_path):
    """256 KB of RAM, the model mapped from ROMFS."""
    case = Case(name, tmp_path, 2)
    image = romfs_image.make({"model.safetensors": case.path.read_bytes()})
    plan, _ = push.plan_files(session.BOARD, [])
    board = new_board(fs={**dict(plan), "samples": case.samples.tobytes()}, romfs=image)
    script = SCRIPT.format(model="/rom/model.safetensors", samples="/samples")
    case.check(board.exec(script, timeout=200))
