"""A small version of the main job: demo network, few samples, few steps; on the host and on a board."""

import dataclasses
import pathlib

import microzo
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
    """(journal, adapted model) of an uninterrupted run over the kernels in use."""
    journal, adapted = pathlib.Path(folder, "journal"), pathlib.Path(folder, "adapted")
    model = microzo.load(str(made.model))
    trainer = microzo.Trainer(model, recipe, layers="all", seed=SEED, journal=str(journal))
    for _ in trainer.run(microzo.Dataset(*made.data), steps=steps):
        pass
    model.save(str(adapted))
    return journal.read_bytes(), adapted.read_bytes()


def settings(recipe, steps=STEPS):
    """The line to run on the board before BOARD_SCRIPT."""
    return f"recipe, steps, seed = {recipe!r}, {steps}, {SEED}"


def on_board(board, recipe, steps=STEPS):
    """Run or go on until finished; returns what the script printed."""
    board.exec(settings(recipe, steps))
    return board.run(BOARD_SCRIPT, timeout=300)
