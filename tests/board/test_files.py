"""Files on a board's file system are read right in any order."""

import pathlib

from microzo_host.board import emulator

HERE = pathlib.Path(__file__).parent


def run(script):
    return emulator.Unix(path=[HERE.parents[1] / "device"]).run(script).strip()


def test_seek_after_a_read_that_ended_with_a_block():
    assert run(HERE / "seek_littlefs.py") == "0 wrong"
