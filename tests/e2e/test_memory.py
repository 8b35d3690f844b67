"""RAM on the 256-KB board: the plan tells it beforehand, and there is room to spare."""

import ast
import json

import job
import pytest

import microzo
from microzo.journal import file as journal
from microzo.journal import record
from microzo.kernel import choice as backend
from microzo_host.board import link as board_link
from microzo_host.demo import prepare, session
from microzo_host.plan import loaded
from microzo_host.plan import ram as ramplan

TRAIN_IMAGES = 256
# A package's own module holds next to nothing; saving comes after the peak.
PACKAGES = {"board", "data", "journal", "net", "recipes", "search", "train", "zo"}


@pytest.fixture(scope="module")
def full_size(builds, tmp_path_factory):
    """Model and all 256 training samples."""
    folder = tmp_path_factory.mktemp("memory")
    model, _, _ = prepare.model("mnist", folder)
    case = prepare.case("mnist", *job.CORRUPTION, folder, train=TRAIN_IMAGES, test=20)
    return job.Files(model, case)


def program_in(path):
    """The program that a journal's RECIPE record holds."""
    reader = journal.Reader(backend.kernels(), str(path))
    while (rec := reader.next())[0] != record.RECIPE:
        pass
    found = json.loads(bytes(record.payload(rec)))
    reader.close()
    return found


def modules_of(board):
    """Names of the package's modules that are loaded."""
    with board_link.Link(board.port, reset=False) as link:
        text = link.exec("import sys; print([n for n in sys.modules if n[:8] == 'microzo.'])")
    names = {name.partition(".")[2] for name in ast.literal_eval(text.strip())}
    names = {n + ".__init__" if n in ("methods", "kernel") else n for n in names}
    return names - PACKAGES - {"net.save"}


ALWAYS = ["default", "forward_only", "spsa", "realign", "head", "elastic", "node", "scales"]
SLOW = ["entropy", "tail", "qzo-ff", "zoqo", "pmt", "channel"]


@pytest.mark.xfail(
    reason="a 256-KB heap lacks some KB since live samples and safe files",
    strict=False,
)
@pytest.mark.parametrize("recipe", ALWAYS + SLOW)
def test_plan_is_within_two_per_cent(recipe, full_size, new_board, full, tmp_path):
    if recipe in SLOW and not full:
        pytest.skip("with MICROZO_FULL=1")
    planned_as_run(full_size, new_board, tmp_path, microzo.recipe(recipe))


def test_plan_of_nodes_of_several_operators(full_size, new_board, full, tmp_path):
    if not full:
        pytest.skip("with MICROZO_FULL=1")
    recipe = microzo.recipe("node")
    recipe["stages"][-1]["model_wise"] = 1
    stages = planned_as_run(full_size, new_board, tmp_path, recipe, [1, 2, 3])
    assert stages[-1]["ops"] == [1, 2, 3]


def planned_as_run(full_size, new_board, tmp_path, recipe, layers="auto"):
    """The stages of a short run on the board, if its RAM, program and modules are as planned."""
    board = new_board(fs=full_size.disk())
    run = session.run(board, recipe, lambda line: None, steps=3, layers=layers)
    planned = ramplan.predict(full_size.model, recipe, layers, samples=TRAIN_IMAGES)
    assert planned.fits and run.ram_peak <= run.ram_limit
    assert job.near(planned, run.ram_peak), (planned, run.ram_peak)
    (tmp_path / "journal").write_bytes(run.journal)
    trained = program_in(tmp_path / "journal")["stages"]
    stages = json.loads(json.dumps(planned.stages))  # of a journal: its tuples are lists
    assert [dict(s, steps=0) for s in trained] == [dict(s, steps=0) for s in stages]
    # train.py has saved the model by now; RAM is at its peak before that
    assert modules_of(board) == set(loaded.always(recipe["stages"])) - {"__init__"}
    return planned.stages


@pytest.mark.parametrize("recipe", ["default", "forward_only"])
def test_sixteen_kilobytes_to_spare(recipe, full_size, new_board):
    board = new_board(fs=full_size.disk())
    board.exec(f"ballast = bytearray(16384); {job.settings(recipe, steps=3)}")
    assert "finished" in board.run(job.BOARD_SCRIPT, timeout=300)
