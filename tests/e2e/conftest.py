"""Builds and files that the end-to-end tests share."""

import os
import pathlib
import sys

import pytest

from microzo_host import native
from microzo_host.board import emulator, push

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import job  # noqa: E402

STRICT = bool(os.environ.get("CI") or os.environ.get("MICROZO_STRICT"))
FULL = bool(os.environ.get("MICROZO_FULL"))
FIRMWARE = emulator.FIRMWARE / "mps2-an386-256K-stock.elf"


def needed(path, made_by):
    """Skip, or fail where builds are promised, if a file is missing."""
    if not pathlib.Path(path).exists():
        text = f"{path} is missing: run `{made_by}`"
        pytest.fail(text) if STRICT else pytest.skip(text)


@pytest.fixture(scope="session")
def builds():
    """The board's firmware, native module and the host's kernels."""
    needed(FIRMWARE, "make firmware")
    needed(push.ROOT / "build" / "natmod" / "armv7emsp" / "_microzo.mpy", "make natmod")
    needed(push.ROOT / "build" / "host" / native.FILE, "make host-lib")


@pytest.fixture(scope="session")
def files(builds, tmp_path_factory):
    """Model, data and disk of the small job."""
    return job.files(tmp_path_factory.mktemp("job"))


@pytest.fixture
def start(files):
    """start(**options): a running 256-KB board with the small job on its disk."""
    boards = []

    def make(disk=None, **options):
        given = {} if disk and pathlib.Path(disk).exists() else {"fs": files.disk()}
        boards.append(emulator.Board(disk=disk, **{**given, **options}))
        return boards[-1].start()

    yield make
    for board in boards:
        board.close()


@pytest.fixture(scope="session")
def full():
    """Whether everything slow is wanted (MICROZO_FULL=1)."""
    return FULL
