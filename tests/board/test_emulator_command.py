"""`microzo emulator`: a board until Ctrl-C, that keeps its disk where it is told to."""

import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

from microzo_host import cli
from microzo_host.board import emulator, errors, link

pytestmark = pytest.mark.board


def test_a_board_until_ctrl_c(tmp_path):
    command = [sys.executable, "-u", "-m", "microzo_host.cli", "emulator"]
    process = subprocess.Popen(
        [*command, "--disk", str(tmp_path / "disk")], stdout=subprocess.PIPE, text=True
    )
    try:
        words = process.stdout.readline().split()
        assert words[:2] == ["mpremote", "connect"]
        with link.Link(words[2]) as board:
            board.exec("f = open('kept', 'w'); f.write('yes'); f.close()")
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()
    with emulator.Board(disk=tmp_path / "disk") as board:
        assert board.exec("print(open('kept').read())").strip() == "yes"


def test_firmware_that_is_not_built_ends_in_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(emulator, "FIRMWARE", tmp_path)
    result = CliRunner().invoke(cli.main, ["emulator"])
    assert result.exit_code == 1
    assert result.output == ("Error: no mps2-an386-256K-stock.elf here: run `make firmware`\n")


@pytest.mark.parametrize("code", ("1 / 0", "raise OSError(5)"))
def test_an_exception_is_told_with_its_traceback(code, stock_board):
    with pytest.raises(errors.ScriptError) as raised:
        stock_board.exec(code)
    assert raised.value.traceback.startswith("Traceback")
    assert stock_board.exec("print('on')") == "on\r\n"


def test_output_is_followed(stock_board):
    told = []
    stock_board.exec("for i in range(3): print(i)", follow=told.append)
    assert "".join(told) == "0\r\n1\r\n2\r\n"
