"""RAM on the 256-KB board: the plan tells it beforehand, and there is room to spare."""

import job
import pytest

from microzo_host import ramplan
from microzo_host.demo import prepare, session

TRAIN_IMAGES = 256


@pytest.fixture(scope="module")
def full_size(builds, tmp_path_factory):
    """Model and all 256 training samples."""
    folder = tmp_path_factory.mktemp("memory")
    model, _, _ = prepare.model("mnist", folder)
    case = prepare.case("mnist", *job.CORRUPTION, folder, train=TRAIN_IMAGES, test=20)
    return job.Files(model, case)


@pytest.mark.parametrize("recipe", ["default", "forward_only", "spsa", "realign"])
def test_plan_is_within_two_per_cent(recipe, full_size, new_board):
    board = new_board(fs=full_size.disk())
    run = session.run(board, recipe, lambda line: None, steps=3)
    planned = ramplan.predict(full_size.model, recipe, samples=TRAIN_IMAGES)
    assert planned.fits and run.ram_peak <= run.ram_limit
    assert abs(planned.peak - run.ram_peak) <= 0.02 * run.ram_peak, (planned, run.ram_peak)


@pytest.mark.parametrize("recipe", ["default", "forward_only"])
def test_sixteen_kilobytes_to_spare(recipe, full_size, new_board):
    board = new_board(fs=full_size.disk())
    board.exec(f"ballast = bytearray(16384); {job.settings(recipe, steps=3)}")
    assert "finished" in board.run(job.BOARD_SCRIPT, timeout=300)
