"""What all tests share: emulated boards."""

import pytest

from microzo_host.emulator import Board


@pytest.fixture
def new_board():
    """Makes running boards, new_board(**options), and ends them after the test."""
    boards = []

    def make(**options):
        boards.append(Board(**options))
        return boards[-1].start()

    yield make
    for board in boards:
        board.close()


@pytest.fixture(scope="module")
def stock_board():
    """One board of 256 KB with stock firmware, shared by a module's tests."""
    with Board(ram="256K") as board:
        yield board
