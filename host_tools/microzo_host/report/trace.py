"""What a run did, step by step, from its journal: the model is trained again record by record and
measured on the way.

A stage that was rolled back is shown too. Nothing here changes bits: the last state is compared
with the checksum of the journal's END.
"""

import dataclasses
from array import array

import numpy as np

import microzo
from microzo.data import draw
from microzo.journal import file as journals
from microzo.journal import record
from microzo.methods.stage import Run
from microzo.train import replay
from microzo.train.engine import make_stage
from microzo.train.start import prepare

POINTS = 40  # of a curve: measuring takes most of the time
SAMPLES = 200  # of the training and of the test data that a point is measured on


@dataclasses.dataclass(frozen=True)
class Point:
    """After `number` steps of the run; losses in nats, accuracies from 0 to 1; test: None, None
    without test data."""

    number: int
    stage: int
    loss: float
    accuracy: float
    test_loss: float | None
    test_accuracy: float | None


@dataclasses.dataclass(frozen=True)
class StageOutcome:
    """begin, end: numbers of its first and last step in the run, from 1 on; kept: None if the run
    was not there yet; before, after: (correct, total), None where nobody measured."""

    kind: str
    begin: int
    end: int
    kept: bool | None
    before: tuple | None
    after: tuple | None


@dataclasses.dataclass(frozen=True)
class Trace:
    """program: of the journal; confirmed: as microzo.replay gives it; model: in its last state;
    predictions: (before, after), the classes of every sample of the test, or of the training data
    without one."""

    program: dict
    seed: int
    board_id: int
    steps: int
    points: list
    stages: list
    confirmed: bool | None
    model: object
    predictions: tuple


def trace(model_path, journal, data, test=None, tell=lambda done, total: None):
    """The Trace of a journal. data, test: pairs of .npy files; tell(done, total): of steps.

    ValueError in a sentence: another model, other data, or a journal of live samples with exact
    gradients, which cannot be replayed.
    """
    model = microzo.load(str(model_path))
    source = microzo.Dataset(*map(str, data))
    other = microzo.Dataset(*map(str, test)) if test else None
    for each in filter(None, (source, other)):
        model.check(each)
    shown = other or source
    before = predictions(model, shown)
    reader = journals.Reader(model.k, str(journal))
    try:
        reader.belongs_to(model)
        if reader.data_crc:  # else of live samples, which nobody has
            replay.check_data(reader, model, source)
        run = Run(model, None, reader.seed, reader.board_id)
        prepare(run, replay.program_of(reader, model))
        walk = _Walk(run, source, other, tell)
        walk.through(reader)
    finally:
        reader.close()
    run.close()
    model.finish()
    return Trace(
        run.program, reader.seed, reader.board_id, walk.number, walk.points, walk.stages,
        walk.confirmed(), model, (before, predictions(model, shown)),
    )  # fmt: skip


def predictions(model, source):
    """The class of every sample of a source: int array."""
    sample = bytearray(model.sample_len)
    classes = []
    for i in range(len(source)):
        source.read_into(i, sample)
        classes.append(model.predict(sample))
    return np.array(classes)


class _Walk:
    """Through the records of a journal."""

    def __init__(self, run, source, other, tell):
        self.points, self.stages, self.number = [], [], 0
        self._run, self._source, self._tell = run, source, tell
        self._total = sum(stage["steps"] for stage in run.program["stages"])
        self._every = -(-self._total // POINTS)
        self._sets = [None, None]
        model = run.model
        for i, each in enumerate((source, other)):
            if each is not None:
                self._sets[i] = each, _spread(model, each)
        self._at = replay.position_before(run.program)
        self._stage = self._saved = None
        self._begin = 1

    def through(self, reader):
        replay.program_of(reader, self._run.model)
        self._measure(0)
        while (rec := reader.next()) is not None:
            if rec[0] in (record.STEP, record.VALUES):
                self._step(rec)
            elif rec[0] in (record.KEEP, record.ROLLBACK):
                self._end(rec)
            else:
                if rec[0] == record.STAGE:
                    self._saved = bytes(self._run.model.state)
                    self._begin = self.number + 1
                self._at.take(rec)
        if self._at.begun:
            self.stages.append(self._outcome(None))
        self._leave()

    def confirmed(self):
        if not self._at.finished:
            return None
        state = self._run.model.state
        return self._run.model.k.crc32(state, 0, len(state)) == self._at.state_crc

    def _step(self, rec):
        if self._stage is None:
            self._stage = make_stage(self._run, self._at)
        self._stage.replay(rec, self._source)
        self._at.take(rec)
        self.number += 1
        self._tell(self.number, self._total)
        last = self._at.step == self._at.spec()["steps"]
        if self.number % self._every == 0 or last or self._at.step == 1:
            self._measure(self._at.stage)

    def _end(self, rec):
        stage = self._at.stage
        self._leave()
        spec = self._at.spec()
        before = self._at.before
        self._at = self._at.after(rec)
        kept, _, after, total = self._at.outcomes[-1]
        self.stages.append(self._outcome(kept, spec, before, after, total))
        if not kept:
            self._run.model.state[:] = self._saved
            self._measure(stage)

    def _outcome(self, kept, spec=None, before=None, after=0, total=0):
        spec = spec or self._at.spec()
        pairs = ((before.correct, before.total), (after, total)) if total else (None, None)
        return StageOutcome(spec["kind"], self._begin, self.number, kept, *pairs)

    def _leave(self):
        if self._stage is not None:
            self._stage.close()
            self._stage = None

    def _measure(self, stage):
        values = []
        for each in self._sets:
            values += _measured(self._run.model, *each) if each else (None, None)
        self.points.append(Point(self.number, stage, *values))


def _spread(model, source):
    """Numbers of up to SAMPLES samples, as balanced as a run's own draw."""
    buffer = bytearray(model.sample_len)
    return draw.draw(model.k, source, SAMPLES, model.classes, 0, buffer)[0]


def _measured(model, source, index):
    """(mean loss in nats, share of right answers) of samples of a source."""
    sample = bytearray(model.sample_len)
    no_error = array("i")
    loss = correct = 0
    for i in index:
        label = source.read_into(i, sample)
        correct += model.predict(sample) == label
        loss += model.k.loss(model.plan, model.arena, label, no_error)
    return loss / len(index) / 4096, correct / len(index)
