"""What all tests share: emulated boards."""

import signal

import pytest

from microzo_host.board.emulator import Board


def pytest_configure():
    """Background jobs of a script, and what they start, ignore the Ctrl-C that tests send."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


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
