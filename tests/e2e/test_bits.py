"""Every recipe on the board gives the bits of the C kernels, of the oracle and of a replay."""

import job
import pytest

from microzo.kernel import choice as backend
from microzo_host import native, replay
from microzo_host import reference as oracle
from microzo_host.board import files as board_files
from microzo_host.board import link as board_link


@pytest.fixture
def kernels():
    """kernels(module): the module's functions are used until the test ends."""
    yield backend.use
    backend.use(native)


@pytest.mark.parametrize("recipe", job.RECIPES)
def test_same_bits_everywhere(recipe, start, files, kernels, tmp_path):
    board = start()
    job.on_board(board, recipe)
    board.release()
    with board_link.Link(board.port, reset=False) as link:
        left = board_files.Files(link)
        journal, adapted = left.get("/job.journal"), left.get("/job.safetensors")
    (tmp_path / "journal").write_bytes(journal)
    (tmp_path / "adapted").write_bytes(adapted)
    trained = job.records(tmp_path / "journal"), adapted
    for module in (native, oracle):
        kernels(module)
        folder = tmp_path / module.__name__
        folder.mkdir()
        assert job.on_host(files, recipe, folder) == trained, module.__name__
    exact = recipe in ("head", "tail", "default")
    data = files.data if exact else None
    for module in (native, oracle):
        kernels(module)
        result = replay.replay(files.model, tmp_path / "journal", data, tmp_path / "adapted")
        assert result.confirmed and result.same_file
