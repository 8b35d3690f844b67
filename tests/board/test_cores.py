"""Every other emulated board: starts, behaves under mpremote, trains to the host's bits."""

import os

import onboard
import pytest
import small
from onboard import evaluate

import microzo
from microzo_host.board import info as board_info
from microzo_host.board import push
from microzo_host.board.emulator import CORES, Board
from microzo_host.board.errors import EmulatorError, ScriptError

pytestmark = [
    pytest.mark.board,
    pytest.mark.skipif(
        not os.environ.get("MICROZO_FULL"), reason="other boards' firmware: make test-full"
    ),
]

# Of sys.implementation._mpy; MicroPython calls a Cortex-M3 armv7em, which takes armv7m.
ARCH_NUMBERS = {"armv6m": 4, "armv7m": 6, "armv7emsp": 7, "armv7emdp": 8, "rv32imc": 11}
OTHERS = [core for core in CORES if core != "m4"]
TRAIN = """
import gc, microzo
model = microzo.load("model.safetensors")
trainer = microzo.Trainer(model, microzo.recipe("{}"))
for step in trainer.run(microzo.Dataset("x.npy", "y.npy"), steps=6):
    pass
print(model.k.__name__, bytes(model.state).hex())
"""


@pytest.fixture(scope="module", params=OTHERS)
def core(request):
    return request.param


@pytest.fixture(scope="module")
def board(core):
    with Board(core=core) as board:
        yield board


def test_it_is_the_core_that_it_says(board):
    mpy, machine = evaluate(
        board, "(sys.implementation._mpy, sys.implementation._machine)", "import sys"
    )
    assert mpy >> 10 & 15 == ARCH_NUMBERS[board.core.arch]
    assert board.core.machine in machine
    assert evaluate(board, "board.ram()[0]", "import board") == 256 * 1024
    board.exec("bytearray(230_000)")


def test_floats_and_recursion(board):
    assert evaluate(board, "(2 ** 0.5, math.sin(1.0))", "import math") == pytest.approx(
        (1.414214, 0.841471), abs=1e-6
    )
    with pytest.raises(ScriptError, match="recursion"):
        board.exec("def f(): f()\nf()")


def test_collector_keeps_what_is_used(board):
    board.exec("""
import gc
kept = [bytearray(b"%d" % i) for i in range(1000)]
for i in range(20):
    bytearray(50_000)
    gc.collect()
assert all(kept[i] == b"%d" % i for i in range(1000))
""")


def test_time_passes_as_it_should(board):
    setup = "import time\nt = time.ticks_us()\ntime.sleep_ms(30)\nt = time.ticks_us() - t"
    assert 29_000 <= evaluate(board, "t", setup) < 3_000_000


def test_mpremote(board, tmp_path):
    data = os.urandom(6000)
    (tmp_path / "up.bin").write_bytes(data)
    (tmp_path / "script.py").write_text("import sys\nprint('on', sys.platform)\n")
    assert board.mpremote("run", tmp_path / "script.py").strip() == "on qemu"
    board.mpremote(
        *("fs", "cp", tmp_path / "up.bin", ":kept.bin"),
        *("+", "cp", ":kept.bin", tmp_path / "down.bin"),
    )
    assert (tmp_path / "down.bin").read_bytes() == data
    board.mpremote("reset")
    assert "kept.bin" in board.mpremote("fs", "ls")


def interrupted(board, wait):
    """What a program prints that waits inside a try while Ctrl-C comes."""
    transport = board.transport()
    transport.exec_raw_no_follow(
        f"import time\ntry:\n print('in')\n {wait}\nexcept KeyboardInterrupt: print(1)"
    )
    # Before the program runs, Ctrl-C is but a byte of input.
    assert transport.read_until(1, b"in\r\n", timeout=30).endswith(b"in\r\n")
    transport.serial.write(b"\x03")
    return transport.follow(30)


def test_ctrl_c_stops_a_loop(board):
    assert interrupted(board, "while True: pass") == (b"1\r\n", b"")


def test_sleep_ends_by_ctrl_c(board):
    assert interrupted(board, "time.sleep(50)") == (b"1\r\n", b"")


def test_input_that_nobody_reads_is_not_lost(board):
    onboard.check_that_no_input_is_lost(board)


def test_unaligned_access_faults(core, new_board):
    if core == "rv32":
        pytest.skip("QEMU's RISC-V core loads unaligned words")
    board = new_board(core=core)
    with pytest.raises(EmulatorError, match="FAULT: unaligned access"):
        board.exec("""
import uctypes
@micropython.asm_thumb
def load(r0):
    ldr(r0, [r0, 0])
address = uctypes.addressof(bytearray(8))
load(address)
load(address + 1)
""")


def test_fault_is_told(core, new_board):
    board = new_board(core=core)
    with pytest.raises(EmulatorError, match="FAULT: .*pc="):
        board.exec("import machine\nmachine.mem32[0xf0000000]")


def test_instruction_counts_repeat(core, new_board):
    onboard.check_that_instruction_counts_repeat(lambda: new_board(icount=True, core=core))


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """Model and data, and the state that the host trains to: {recipe: (files, hex)}."""
    folder = tmp_path_factory.mktemp("job")
    model_path = small.write_model(folder / "model.safetensors")
    x, y = small.write_data(folder, model_path, n=16)
    found = {}
    for name in ("forward_only", "tail"):
        model = microzo.load(model_path)
        trainer = microzo.Trainer(model, microzo.recipe(name))
        for _ in trainer.run(microzo.Dataset(x, y), steps=6):
            pass
        found[name] = bytes(model.state).hex()
    return {"model.safetensors": model_path, "x.npy": x, "y.npy": y}, found


@pytest.mark.parametrize("usermod", (False, True), ids=("natmod", "usermod"))
def test_training_gives_the_hosts_bits(core, new_board, usermod, job):
    files, wanted = job
    info = board_info.BoardInfo(
        "", "micropython", (1, 25, 0), CORES[core].arch, "6.3", 0, "absent"
    )
    package = dict(push.plan_files(info, [])[0])
    assert any(path.endswith("_microzo.mpy") for path in package)
    board = new_board(core=core, usermod=usermod, fs={**package, **files})
    for recipe, state in wanted.items():
        assert board.exec(TRAIN.format(recipe)).split() == ["_microzo", state]
        board.soft_reset()
