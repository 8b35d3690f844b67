"""Runs of variants on the tiny network: trained, replayed, cut and resumed."""

import pathlib
import random

import declared
import pytest

import microzo
from microzo.journal import writer


def param(variant, quick):
    marks = () if quick else pytest.mark.slow
    return pytest.param(variant, id=variant.name.replace(" ", "-", 1), marks=marks)


def sampled(variants, count, seed=13):
    """All of them as parameters of a test; slow are those but the plain one of every method and
    `count` more, drawn by the seed."""
    light = [v for v in variants if v.changes and v.steps is None]
    drawn = {v.name for v in random.Random(seed).sample(light, min(count, len(light)))}
    return [param(v, not v.changes or v.name in drawn) for v in variants]


class Runs:
    """files: of the model, x and y; folder: for journals."""

    def __init__(self, files, folder):
        self.model_path, self._x, self._y = files
        self.folder = pathlib.Path(folder)
        self.data = microzo.Dataset(self._x, self._y)

    def model(self):
        return microzo.load(self.model_path)

    def unlabelled(self):
        return microzo.Dataset(self._x)

    def journal(self, name="run"):
        return str(self.folder / name)

    def trainer(self, model, variant, **options):
        return microzo.Trainer(model, variant.recipe, seed=7, checkpoint_every=2, **options)

    def train(self, variant, journal=None, data=None):
        """(model, trainer) at the end of a run."""
        model = self.model()
        trainer = self.trainer(model, variant, journal=journal)
        for _ in trainer.run(data or self.data, variant.steps):
            pass
        return model, trainer

    def replayed(self, journal, data):
        """(what replay says, the state)."""
        model = self.model()
        return microzo.replay(model, journal, data), bytes(model.state)

    def resumed(self, journal):
        """The state after a journal is resumed to its end."""
        model = self.model()
        for _ in microzo.resume(model, journal).run(self.data):
            pass
        return bytes(model.state)


class Cuts:
    """What a power cut would leave before every record of a run but the first: files by name, and
    the record that is about to be written."""

    def __init__(self, monkeypatch, journal):
        self.left = []
        folder = pathlib.Path(journal).parent
        append = writer.Writer.append

        def cut(writer, rec):
            writer.sync()
            files = {path.name: path.read_bytes() for path in folder.iterdir()}
            append(writer, rec)
            self.left.append((files, bytes(rec)))

        monkeypatch.setattr(writer.Writer, "append", cut)
        self._undo = monkeypatch.undo

    def stop(self):
        self._undo()


def check_cuts(run, variant, monkeypatch, every=1, torn=True):
    """Asserts that a run that is cut before or in the middle of a record goes on to the same
    bytes; every: how many cuts are left out between two."""
    journal = run.journal("whole/run")
    pathlib.Path(journal).parent.mkdir()
    cuts = Cuts(monkeypatch, journal)
    model, _ = run.train(variant, journal)
    cuts.stop()
    state, whole = bytes(model.state), pathlib.Path(journal).read_bytes()
    folder = run.folder / "cut"
    folder.mkdir()
    for files, rec in cuts.left[::every]:
        for tail in (b"", rec[: len(rec) // 2]) if torn else (b"",):
            for path in folder.iterdir():
                path.unlink()
            for name, content in files.items():
                (folder / name).write_bytes(content + (tail if name == "run" else b""))
            assert run.resumed(str(folder / "run")) == state
            assert (folder / "run").read_bytes() == whole
    return state, whole


def exact(trainer):
    """Whether a run has exact gradients, by what its stages declare."""
    plan = trainer.model.plan
    memories = (
        declared.methods()[spec["kind"]].memory(plan[:], spec, 0)
        for spec in trainer.program["stages"]
    )
    return any(memory.get("gradients") for memory in memories)


def stays(trainer):
    """Whether the guard kept what the last stage did."""
    return "rolled back" not in trainer.outcomes()[-1]
