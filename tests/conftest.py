"""What all tests share: the helpers of tests/support, emulated boards, a small model, its data.

Markers: `slow` and `board` stand at the tests; those of e2e/ and bench/, and what asks for a
board by a fixture of this file, are marked here. A test without `board` cannot start one.
"""

import pathlib
import signal
import sys
from unittest import mock

import pytest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "support"))

import small  # noqa: E402

import microzo  # noqa: E402
from microzo.kernel import choice  # noqa: E402
from microzo_host.board.emulator import Board  # noqa: E402


def pytest_configure():
    """Background jobs of a script, and what they start, ignore the Ctrl-C that tests send."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


FOLDERS = {"e2e": ("board", "slow"), "bench": ("bench",)}
BOARDS = {"new_board", "stock_board"}


def pytest_collection_modifyitems(items):
    for item in items:
        marks = FOLDERS.get(item.path.relative_to(HERE).parts[0], ())
        for mark in (*marks, *(["board"] if BOARDS & set(item.fixturenames) else [])):
            item.add_marker(mark)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """No emulator in the tests that `make check` runs."""
    if item.get_closest_marker("board") or item.get_closest_marker("bench"):
        return (yield)
    refused = mock.Mock(side_effect=AssertionError("this test starts a board: mark it `board`"))
    with mock.patch.object(Board, "start", refused):
        return (yield)


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


@pytest.fixture(scope="session")
def model_path(tmp_path_factory):
    """The file of the small model."""
    return small.write_model(tmp_path_factory.mktemp("model") / "small.safetensors")


@pytest.fixture(scope="session")
def data_paths(tmp_path_factory, model_path):
    """The small model's x.npy and y.npy."""
    return small.write_data(tmp_path_factory.mktemp("data"), model_path)


@pytest.fixture
def model(model_path):
    """The small model, loaded."""
    return microzo.load(model_path)


@pytest.fixture
def data(data_paths):
    """The small model's data as a source."""
    source = microzo.Dataset(*data_paths)
    yield source
    source.close()


@pytest.fixture
def with_kernels():
    """with_kernels(module) makes it the kernels until the end of the test."""
    before = choice.kernels()
    yield choice.use
    choice.use(before)
