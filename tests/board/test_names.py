"""To look at the package (help, dir, Tab) imports nothing, on the unix port and on the board."""

import json
import pathlib

from microzo_host.board import emulator, push
from microzo_host.demo import session

NAMES = "ArrayData Dataset Recorder Trainer kernels load recipe replay resume use".split()
LOOK = """
import gc, sys
import microzo
model = microzo.load("m.safetensors")
gc.collect()
def state():
    gc.collect()
    return gc.mem_alloc(), sorted(sys.modules)
before = state()
before = state()
help(microzo)
names = dir(microzo)
after = state()
print("MORE", after[0] - before[0], after[1] == before[1], sorted(names))
for step in microzo.Trainer(model, "realign").run(microzo.Dataset("x.npy", "y.npy")):
    pass
help(microzo)
print("END")
"""


def check(said):
    lines = said.replace("\r", "").splitlines()
    for name in NAMES:
        assert any(line.startswith(f"  {name} -- ") and "function" not in line for line in lines)
    more = next(line for line in lines if line.startswith("MORE")).split(" ", 3)
    # the list of names itself, which is still there
    assert int(more[1]) < 600 and more[2] == "True"
    assert set(NAMES) <= set(json.loads(more[3].replace("'", '"')))
    assert lines[-1] == "END"


def test_on_the_unix_port(model_path, data_paths, tmp_path):
    code = LOOK
    for name, path in zip(("m.safetensors", "x.npy", "y.npy"), (model_path, *data_paths)):
        code = code.replace(f'"{name}"', repr(str(path)))
    (tmp_path / "look.py").write_text(code)
    check(emulator.Unix(True, path=[push.ROOT / "device"]).run(tmp_path / "look.py"))


def test_on_the_board(new_board, model_path, data_paths):
    names = ("m.safetensors", "x.npy", "y.npy")
    paths = map(pathlib.Path, (model_path, *data_paths))
    plan, _ = push.plan_files(session.BOARD, [])
    board = new_board(fs=dict(plan) | dict(zip(names, paths)))
    check(board.exec(LOOK))


def test_tab_imports_nothing(new_board):
    plan, _ = push.plan_files(session.BOARD, [])
    board = new_board(fs=dict(plan))
    count = "import sys; print(len(sys.modules))"
    board.exec("import microzo")
    before = board.exec(count)
    link = board.link()
    link.transport.exit_raw_repl()
    link.transport.serial.write(b"microzo.\t\t")
    told = link.transport.read_until(1, b"Trainer", timeout=5).decode()
    assert "Dataset" in told
    link.transport.serial.write(b"\x03")
    link.transport.enter_raw_repl(soft_reset=False)
    assert board.exec(count) == before
