"""A small version of the main job: demo network, few samples and steps; on host and board."""

import dataclasses
import pathlib

import microzo
from microzo.journal import file as journal
from microzo.journal import record
from microzo.kernel import choice as backend
from microzo_host.demo import prepare, session

RECIPES = ("realign", "head", "tail", "spsa", "forward_only", "default")
SAMPLES, STEPS, SEED = 32, 6, 11
CORRUPTION = "rotate_fixed", 5
BOARD_SCRIPT = pathlib.Path(__file__).with_name("board_job.py")


@dataclasses.dataclass
class Files:
    """Model and data on the host, and the disk of a board that has them and the package."""

    model: pathlib.Path
    case: prepare.Case

    @property
    def data(self):
        """Paths of training samples and labels."""
        return str(self.case.files["train_x.npy"]), str(self.case.files["train_y.npy"])

    def disk(self, **more):
        """{path: file or bytes} for a board."""
        return {**session.disk(self.model, self.case), **more}


def files(folder):
    """Make model and data in a folder."""
    model, _, _ = prepare.model("mnist", folder)
    return Files(model, prepare.case("mnist", *CORRUPTION, folder, train=SAMPLES, test=50))


def on_host(made, recipe, folder, steps=STEPS):
    """(journal's records, adapted model) of an uninterrupted run over the kernels in use."""
    path, adapted = pathlib.Path(folder, "journal"), pathlib.Path(folder, "adapted")
    model = microzo.load(str(made.model))
    trainer = microzo.Trainer(model, recipe, layers="all", seed=SEED, journal=str(path))
    for _ in trainer.run(microzo.Dataset(*made.data), steps=steps):
        pass
    model.save(str(adapted))
    return records(path), adapted.read_bytes()


def records(path):
    """The records of a journal but the recipe's text, whose order of keys is the platform's."""
    reader = journal.Reader(backend.kernels(), str(path))
    found = []
    while (rec := reader.next()) is not None:
        if rec[0] != record.RECIPE:
            found.append(bytes(rec))
    assert reader.end == reader.length
    reader.close()
    return found


def settings(recipe, steps=STEPS):
    """The line to run on the board before BOARD_SCRIPT."""
    return f"recipe, steps, seed = {recipe!r}, {steps}, {SEED}"


def on_board(board, recipe, steps=STEPS):
    """Run or go on until finished; returns what the script printed."""
    board.exec(settings(recipe, steps))
    return board.run(BOARD_SCRIPT, timeout=300)


def near(planned, peak):
    """Whether a Prediction is within 2 % of a measured peak, give or take one cached sample: a few
    hundred bytes decide whether one more has room, and it may be 5 % of the RAM itself."""
    sample = planned.cached_sample
    return min(abs(planned.peak + n * sample - peak) for n in (-1, 0, 1)) <= 0.02 * peak
