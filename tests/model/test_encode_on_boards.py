"""model.encode on MicroPython, where floats have 32 bits: the bytes of `microzo encode`."""

import pathlib

import numpy as np
import pytest

from microzo_host.board import emulator, push
from microzo_host.board import info as board_info
from microzo_host.model import encode, names
from microzo_host.model import file as modelfile

ROOT = pathlib.Path(__file__).parents[2]
BOARD = board_info.BoardInfo("", "micropython", (1, 25, 0), "armv7emsp", "6.3", 0, "absent")
SCRIPT = """
import struct
import sys
from array import array
import microzo
model = microzo.load(sys.argv[1])
with open(sys.argv[2], "rb") as f:
    raw = f.read()
values = array("f", struct.unpack("<%df" % (len(raw) // 4), raw))
n = model.sample_len
for i in range(0, len(values), n):
    flat = bytes(model.encode(values[i : i + n]))
    print("".join("%02x" % b for b in flat), model.clipped)
    assert bytes(model.encode([[v] for v in values[i : i + n]])) == flat
print(model.names())
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory, model_path):
    """(model file, values file, what the host says line by line)"""
    folder = tmp_path_factory.mktemp("encode")
    model = modelfile.read(model_path)
    names.put(model, [f"class {i}" for i in range(model.classes)])
    modelfile.write(folder / "m.safetensors", model)
    rng = np.random.default_rng(0)
    shape = 4, model.in_h, model.in_w, model.in_c
    low, high = (v * model.scales[0] for v in (-128 - model.in_zp, 127 - model.in_zp))
    values = rng.uniform(low - 0.2, high + 0.2, shape).astype(np.float32)
    (folder / "x.bin").write_bytes(values.tobytes())
    lines = []
    for sample in values:
        result = encode.encode(model, sample[None])
        lines.append(f"{result.raw.tobytes().hex()} {result.clipped}")
    return folder / "m.safetensors", folder / "x.bin", [*lines, str(names.of(model))]


def test_on_the_unix_port(files, tmp_path):
    model, values, expected = files
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    said = emulator.Unix(True, path=[ROOT / "device"]).run(script, model, values)
    assert said.split("\n")[: len(expected)] == expected


@pytest.mark.board
def test_on_a_board(files):
    model, values, expected = files
    plan, _ = push.plan_files(BOARD, [])
    code = "import sys\nsys.argv[:] = ['', 'm.safetensors', 'x.bin']\n" + SCRIPT
    data = {"m.safetensors": model, "x.bin": values}
    with emulator.Board(ram="256K", fs={**dict(plan), **data}) as board:
        said = board.exec(code, timeout=300)
    assert said.replace("\r", "").split("\n")[: len(expected)] == expected
