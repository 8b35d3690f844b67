"""The board behaves under the mpremote command as a bought one does."""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys

import pytest

from microzo_host.board.errors import BoardError


def test_exec_and_exit_status(stock_board):
    assert stock_board.mpremote("exec", "print(6 * 7)").strip() == "42"
    with pytest.raises(BoardError, match="ZeroDivisionError"):
        stock_board.mpremote("exec", "1 / 0")


def test_run(stock_board, tmp_path):
    script = tmp_path / "hello.py"
    script.write_text("import sys\nprint('on', sys.platform)\n")
    assert stock_board.mpremote("run", script).strip() == "on qemu"


def test_fs_round_trip(stock_board, tmp_path):
    data = os.urandom(6000)
    (tmp_path / "up.bin").write_bytes(data)
    listing = stock_board.mpremote(
        *("fs", "mkdir", ":folder", "+", "cp", tmp_path / "up.bin", ":folder/up.bin"),
        *("+", "cp", ":folder/up.bin", tmp_path / "down.bin", "+", "sha256sum", ":folder/up.bin"),
        *("+", "rm", ":folder/up.bin", "+", "rmdir", ":folder", "+", "ls"),
    )
    assert (tmp_path / "down.bin").read_bytes() == data
    assert hashlib.sha256(data).hexdigest() in listing
    assert not re.search(r"folder/\s*$", listing)


def test_mount_and_import_from_it(stock_board, tmp_path):
    (tmp_path / "from_host.py").write_text("print('imported from the host')\n")
    out = stock_board.mpremote("mount", tmp_path, "exec", "import from_host")
    assert "imported from the host" in out


def test_mip_install_from_a_local_package(stock_board, tmp_path):
    (tmp_path / "installed.py").write_text("VALUE = 5\n")
    package = {"urls": [["installed.py", "installed.py"]], "version": "1"}
    (tmp_path / "package.json").write_text(json.dumps(package))
    stock_board.mpremote("mip", "install", tmp_path / "package.json")
    out = stock_board.mpremote("exec", "import installed; print(installed.__file__)")
    assert out.strip() == "/lib/installed.py"


def test_resume_keeps_and_soft_reset_clears(stock_board):
    stock_board.mpremote("exec", "x = 5")
    assert stock_board.mpremote("resume", "exec", "print(x)").strip() == "5"
    out = stock_board.mpremote("soft-reset", "resume", "exec", "print('x' in globals())")
    assert out.strip() == "False"


def test_ctrl_c_stops_a_running_loop(stock_board):
    stock_board.release()
    command = [sys.executable, "-m", "mpremote", "connect", stock_board.port]
    loop = subprocess.Popen(
        [*command, "exec", "print('started')\nwhile True: pass"], stdout=subprocess.PIPE
    )
    try:
        assert loop.stdout.readline().strip() == b"started"
        loop.send_signal(signal.SIGINT)
        loop.wait(20)
    finally:
        loop.kill()
        loop.wait()
    assert stock_board.mpremote("exec", "print('alive')").strip() == "alive"


def test_ctrl_c_raises_inside_the_program(stock_board):
    transport = stock_board.transport()
    transport.exec_raw_no_follow(
        "try:\n print('in')\n while True: pass\nexcept KeyboardInterrupt: print('stopped')"
    )
    assert transport.read_until(1, b"in\r\n", timeout=30).endswith(b"in\r\n")
    transport.serial.write(b"\x03")
    out, err = transport.follow(10)
    assert (out.strip(), err) == (b"stopped", b"")


def test_machine_reset_restarts_the_board(stock_board):
    stock_board.mpremote("exec", "open('kept.txt', 'w').write('kept')")
    stock_board.mpremote("reset")
    assert stock_board.mpremote("exec", "print(open('kept.txt').read())").strip() == "kept"
