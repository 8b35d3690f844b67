"""What the emulated board is: memory, clock, file systems, faults."""

import os

import onboard
import pytest
from onboard import evaluate

from microzo_host.board.emulator import Board
from microzo_host.board.errors import EmulatorError, ScriptError

pytestmark = pytest.mark.board


def test_architecture_takes_armv7emsp_modules(stock_board):
    assert evaluate(stock_board, "sys.implementation._mpy >> 10 & 15", "import sys") == 7


def test_all_ram_is_256_kb(stock_board):
    limit, data, stack, heap = evaluate(stock_board, "board.ram()", "import board")
    assert limit == 256 * 1024
    assert data + heap + 8 * 1024 == limit
    assert 0 < stack < 8 * 1024


@pytest.mark.parametrize("size", [256 * 1024, 250_000])
def test_more_than_the_ram_is_refused(stock_board, size):
    with pytest.raises(ScriptError, match="MemoryError"):
        stock_board.exec(f"bytearray({size})")
    assert stock_board.exec("print(len(bytearray(230_000)))").strip() == "230000"


def test_one_megabyte_variant(new_board):
    board = new_board(ram="1M")
    assert evaluate(board, "board.ram()[0]", "import board") == 1 << 20
    board.exec("bytearray(900_000)")


def test_deep_recursion_raises(stock_board):
    with pytest.raises(ScriptError, match="recursion"):
        stock_board.exec("def f(): f()\nf()")
    assert stock_board.failure is None


def test_modules_that_the_package_needs(stock_board):
    setup = "import binascii, hashlib, micropython, os, vfs, gc, struct, array, machine, json"
    assert evaluate(stock_board, "binascii.crc32(b'123456789')", setup) == 0xCBF43926
    assert evaluate(stock_board, "hashlib.sha256(b'').digest()[:4]", setup) == b"\xe3\xb0\xc4\x42"
    with pytest.raises(ScriptError, match="ENOENT"):
        stock_board.exec("open('absent')")
    with pytest.raises(ScriptError, match="MemoryError"):
        stock_board.exec("import micropython\nmicropython.heap_lock()\nbytearray(100)")
    stock_board.soft_reset()


def test_sleep_and_poll_take_their_time(stock_board):
    setup = """
import time, select, sys
def took(f, *args):
    t = time.ticks_us()
    f(*args)
    return time.ticks_diff(time.ticks_us(), t)
p = select.poll()
p.register(sys.stdin.buffer, select.POLLIN)
"""
    for call in ("time.sleep_ms, 30", "time.sleep_us, 30000", "p.poll, 30"):
        assert 29_000 <= evaluate(stock_board, f"took({call})", setup) < 3_000_000, call


def test_stdin_gets_any_bytes_and_loses_none(stock_board):
    onboard.check_that_no_input_is_lost(stock_board)


def test_preloaded_image(new_board, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "c.txt").write_text("c")
    board = new_board(fs={"a.txt": b"a", "x/y/b.bin": bytes(10_000), "tree": tmp_path})
    assert set(evaluate(board, "os.listdir()", "import os")) == {"a.txt", "x", "tree"}
    assert evaluate(board, "open('x/y/b.bin', 'rb').read() == bytes(10000)") is True
    assert evaluate(board, "open('tree/sub/c.txt').read()") == "c"


def test_killed_board_keeps_its_files(new_board, tmp_path):
    disk = tmp_path / "disk.img"
    board = new_board(disk=disk)
    board.exec("f = open('kept', 'w'); f.write('kept'); f.close(); g = open('open', 'w')")
    board.restart()
    assert evaluate(board, "open('kept').read()") == "kept"
    board.close()
    assert board.read_files()["kept"] == b"kept"
    again = new_board(disk=disk)
    assert evaluate(again, "open('kept').read()") == "kept"


def test_cut_while_writing_leaves_old_or_new(new_board):
    board = new_board(fs={"state": b"0" * 3000})
    writer = """
n = 0
while True:
    n += 1
    f = open('state', 'w'); f.write(str(n % 10) * 3000); f.close()
    print(n)
"""
    for lines in (1, 3, 4):
        transport = board.transport()
        transport.exec_raw_no_follow(writer)
        for _ in range(lines):
            transport.read_until(1, b"\n", timeout=10)
        board.restart()
        content = evaluate(board, "open('state').read()")
        assert content == content[0] * 3000


def test_romfs_file_is_mapped_without_a_copy(new_board, tmp_path):
    from mpremote.romfs import make_romfs

    data = os.urandom(50_000)
    (tmp_path / "w.bin").write_bytes(data)
    board = new_board(romfs=bytes(make_romfs(str(tmp_path), mpy_cross=False)))
    setup = """
import gc, uctypes, binascii
f = open('/rom/w.bin', 'rb')
gc.collect(); before = gc.mem_alloc()
m = memoryview(f)
gc.collect(); used = gc.mem_alloc() - before
"""
    used, address, crc = evaluate(board, "(used, uctypes.addressof(m), binascii.crc32(m))", setup)
    assert used < 200 and address >= 0x21800000
    import binascii

    assert crc == binascii.crc32(data)


def test_unaligned_access_faults(new_board):
    board = new_board()
    board.exec("""
import uctypes
@micropython.asm_thumb
def load(r0):
    ldr(r0, [r0, 0])
address = uctypes.addressof(bytearray(8))
load(address)
""")
    with pytest.raises(EmulatorError, match="FAULT: unaligned access"):
        board.exec("load(address + 1)")
    assert board.failure.startswith("FAULT: unaligned access")


def test_instruction_counts_repeat(new_board):
    onboard.check_that_instruction_counts_repeat(lambda: new_board(icount=True))


def test_firmware_that_is_not_built_is_named():
    with pytest.raises(EmulatorError, match="make firmware"):
        Board(ram="3K")


def test_no_emulator_outlives_its_board(new_board):
    board = new_board()
    pid = board.pid
    board.close()
    assert not os.path.exists(f"/proc/{pid}")


def test_no_emulator_outlives_a_killed_host():
    import subprocess
    import sys
    import time

    code = (
        "from microzo_host.board.emulator import Board; import os, time\n"
        "b = Board().start(); print(b.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    out = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE).stdout
    for _ in range(50):
        if not os.path.exists(f"/proc/{int(out)}"):
            return
        time.sleep(0.1)
    raise AssertionError("QEMU still runs")
