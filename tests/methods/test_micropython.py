"""The same package on MicroPython, unix port and 256-KB board: no allocation in a step, same bits.

The board has 31-bit small integers: a value that needs more would allocate there, and only there.
"""

import json
import pathlib

import pytest
import small

import microzo
from microzo_host.board import emulator, push
from microzo_host.board import info as board_info

SCRIPT = pathlib.Path(__file__).parent / "locked_steps.py"
LOCK = SCRIPT.parents[1] / "support" / "heap_locked.py"
BOARD = board_info.BoardInfo("", "micropython", (1, 25, 0), "armv7emsp", "6.3", 0, "absent")


def on_unix(folder, model_path, data_paths, usermod=True):
    path = [SCRIPT.parents[2] / "device", LOCK.parent]
    if not usermod:
        path.append(push.ROOT / "build" / "natmod" / "x64")
    unix = emulator.Unix(usermod, path=path)
    (folder / "cases.json").write_text(json.dumps(small.CASES))
    return unix.run(SCRIPT, model_path, *data_paths, folder / "run.", folder / "cases.json")


def on_unix_with_native_module(*arguments):
    return on_unix(*arguments, usermod=False)


def on_board(folder, model_path, data_paths):
    """Stock firmware, the native module, compiled package: what a user of a bought board has."""
    plan, _ = push.plan_files(BOARD, [])
    names = ("m.safetensors", "x.npy", "y.npy")
    files = {
        name: pathlib.Path(path)
        for name, path in zip(names, (model_path, *data_paths), strict=True)
    }
    files["cases.json"] = json.dumps(small.CASES).encode()
    arguments = ["", *names, "run.", "cases.json"]
    code = f"import sys\nsys.argv[:] = {arguments!r}\n" + SCRIPT.read_text()
    with emulator.Board(ram="256K", fs={**dict(plan), LOCK.name: LOCK, **files}) as board:
        return board.exec(code, timeout=300)


ON_BOARD = pytest.param(on_board, marks=pytest.mark.board)


@pytest.fixture(scope="module", params=[on_unix, on_unix_with_native_module, ON_BOARD])
def lines(request, tmp_path_factory, model_path, data_paths):
    said = request.param(tmp_path_factory.mktemp("port"), model_path, data_paths)
    return [line.split() for line in said.splitlines() if line.strip()]


def test_a_step_allocates_nothing(lines):
    assert len(lines) == 2 * len(small.CASES)


def test_micropython_gives_the_bits_of_cpython(lines, model_path, data_paths):
    data = microzo.Dataset(*data_paths)
    cases = {label: case for label, *case in small.CASES}
    for label, steps, crc in lines:
        name, changes, layers = cases[label]
        recipe = small.short(name)
        recipe["stages"][-1].update(changes)
        model = microzo.load(model_path)
        small.train(model, data, recipe, layers=layers)
        assert int(crc) == small.state_crc(model), label
        assert int(steps) > 0
