"""Ctrl-C at any moment: the same trainer goes on to the same bits.

On CPython between any two bytecodes; on a board whenever the byte comes. A run that is resumed by
its journal: tests/e2e/test_interruptions.py. Not on the unix port: there a signal also ends what
the interpreter itself does, the collector for one.
"""

import json
import pathlib
import time

import machine
import pytest
import small

import microzo
from microzo_host.board import info as board_info
from microzo_host.board import push

SCRIPT = machine.HERE / "interrupted_on_board.py"
RECIPES = ("spsa", "tail", "realign", "default")
BOARD = board_info.BoardInfo("", "micropython", (1, 25, 0), "armv7emsp", "6.3", 0, "absent")

pytestmark = pytest.mark.slow


def test_ctrl_c_between_any_two_bytecodes():
    machine.worker("interrupt_worker.py", machine.count(60, 2000))


@pytest.fixture
def recipes(tmp_path):
    path = tmp_path / "recipes.json"
    path.write_text(json.dumps([small.short(name, 24) for name in RECIPES]))
    return path


def check(lines, model_path, data):
    """How many interrupts came; AssertionError if a bit differs."""
    told = [json.loads(line) for line in lines if line.startswith("[")]
    assert [line[0] for line in told] == list(RECIPES), lines[-5:]
    for name, count, crc in told:
        if count:
            model = microzo.load(model_path)
            small.train(model, data, small.short(name, 24))
            assert crc == small.state_crc(model), name
    return sum(count for _, count, _ in told)


@pytest.mark.board
def test_bytes_on_a_board(model_path, data_paths, data, recipes, new_board):
    plan, _ = push.plan_files(BOARD, [])
    names = ("m.safetensors", "x.npy", "y.npy", "r.json")
    paths = map(pathlib.Path, (model_path, *data_paths, recipes))
    board = new_board(ram="256K", fs={**dict(plan), **dict(zip(names, paths, strict=True))})
    rng, came = machine.rng("bytes", 0), 0
    for number in range(machine.count(1, 20)):
        arguments = ["", *names, f"run{number}"]
        transport = board.transport()
        transport.exec_raw_no_follow(
            f"import sys\nsys.argv[:] = {arguments!r}\n" + SCRIPT.read_text()
        )
        told = b""
        while not told.endswith(b"\x04"):
            told += transport.read_until(1, b"\n", timeout=200)
            if told.endswith(b"ready\r\n"):
                for _ in range(rng.randrange(1, 4)):
                    time.sleep(rng.uniform(0.05, 1.5))
                    transport.serial.write(b"\x03")
            if told.endswith(b"]\r\n") and told.count(b"]\r\n") == len(RECIPES):
                break
        transport.follow(60)
        came += check(told.decode().splitlines(), model_path, data)
    assert came >= 1
