"""The engine of live samples: a piece of the run is done as soon as its samples have come.

Nobody can give a live sample again, so that a step is undone in RAM and done again where an
interruption ends it, and a journal goes on at a checkpoint.
"""

from array import array

from ..board import files
from ..journal import record
from .collected import batch_of
from .engine import Engine, Samples
from .free_guard import FreeGuard
from .guard import Guard
from .health import Health
from .live_position import LivePosition

_HOLD = 0x8000007  # the `a` of derive for the samples that are held out
_LEAST = 8  # held-out samples that may undo a stage


class NoStore:
    """Keeps nothing: what a live run needs to go back is in its Undo."""

    durable = False

    def append(self, rec):
        """Nothing is kept."""

    def mark(self, model):
        """Nothing is kept."""

    def checkpoint(self, step, run, stage):
        """Nothing is kept."""

    def remove(self, path):
        files.remove(path)

    def close(self):
        """Nothing is open."""


class LiveEngine(Engine):
    """source: a Collected whose buffers are placed; store: a NoStore or a LiveJournal."""

    place_of = LivePosition

    def __init__(self, run, source, store):
        Engine.__init__(self, run, Samples(source, None, None, 0, None), store)
        self._source = source
        self._undo = source.undo
        self._recalled = [None, None]  # records of the last two steps
        self._end = None  # the last record of a stage's end
        self._written = False  # the record of the step is in the journal, not yet in the model
        self._torn = False  # an exception left a piece of the run half done

    def restore(self):
        """Goes on where the journal can be followed without the samples that are gone."""
        self._store.trim(self.run)
        self._store.restore_mark(self.run, self._undo)
        Engine.restore(self)

    # samples

    def take(self, x, label):
        """Counts a sample in for the next piece of the run."""
        spec = self.at.spec()
        seen, _ = self._source.counted(self._key())
        held = not batch_of(spec) or bool(spec["guard"]) and self._holds_out(seen)
        self._source.put(self._key(), x, label, held)

    def _holds_out(self, seen):
        """One of every group of samples, which one is random."""
        every = self.run.program["hold"]
        k = self.run.model.k
        group = (self.at.step << 8) + (seen // every & 255)
        chosen = k.derive(self.run.stage_seed(self.at.stage), _HOLD, group) % every
        return seen % every == chosen

    def _key(self):
        """What samples are counted for: a step, or all steps of a label-free stage."""
        return self.at.stage, self.at.step if batch_of(self.at.spec()) else 0

    def missing(self):
        """(samples that came, how many the next piece of the run takes); equal: it can be done."""
        at = self.at
        spec = at.spec()
        seen, batch = self._source.counted(self._key())
        need = batch_of(spec)
        if need:
            return (need, need) if at.begun and at.step >= spec["steps"] else (batch, need)
        window = self._source.window
        came = seen if at.again() else self._source.held()
        return min(came, window), window

    def place(self):
        """(number of the stage in the run, step)."""
        return self.at.stage, self.at.step

    def now(self):
        """(kind of the stage, its steps that are done, what its health says)."""
        warning = "" if self._health is None else self._health.warning
        return self.at.spec()["kind"], self.at.step, warning

    # pieces of the run

    def interrupted(self):
        """An exception goes through a step: the model is what it was before it."""
        self._torn = True
        if self._undo.of == self.place():
            self._undo.restore()

    def act(self):
        """Does whatever has its samples."""
        if self._torn:
            self._reconcile()
            self._torn = False
        while self.missing()[0] == self.missing()[1]:
            if not self.at.begun:
                self._undo.mark()
                self._begin()
            elif self.at.step < self.at.spec()["steps"]:
                self._step()
            else:
                self._end_stage()

    def _forget_code(self):
        """It stays: the stage comes again, and the heap has no room for it in one piece then."""

    def _reconcile(self):
        """What of the piece that was interrupted is in the journal."""
        if not self._store.durable:
            return
        there = self._store.position(self.run)
        if there.stage != self.at.stage:
            self._leave()
            self._take_end(self._end)
        elif there.step > self.at.step:
            self._written = True
        else:
            self.at.begin_as(there)

    def _step(self):
        at = self.at
        stage = self._stage or self._enter()
        if self._undo.of == self.place():
            stage = self._again(stage)
        else:
            self._undo.save(self.place())
        stage.estimate(at.step)
        rec = stage.record
        if not stage.clean:
            rec[1] |= record.LIVE  # nobody has the samples of its exact gradients
        self._keep(rec)
        if not self._written:
            self._store.append(rec)
        stage.apply(rec)
        self._written = False
        at.take(rec)  # from here on the step is done
        self._health.look(stage.flat, at.step)
        self._store.checkpoint(at.step, self.run, stage)

    def _again(self, stage):
        """The stage before the step that was interrupted."""
        step = self.at.step
        last = self._recalled[step - 1 & 1]
        if step == 0 or last is not None and record.get32(last, 4) == step - 1:
            stage = self._enter()
            if step:
                stage.recall(last)
        self._undo.restore()
        return stage

    def _keep(self, rec):
        """A copy of the record of a step, for a stage that goes along the last one."""
        if rec[0] != record.STEP:
            return
        slot = record.get32(rec, 4) & 1
        if self._recalled[slot] is None or len(self._recalled[slot]) != len(rec):
            self._recalled[slot] = bytearray(len(rec))
        self._recalled[slot][:] = rec

    def _end_stage(self):
        """Keeps the stage or brings its beginning back: both are measured on the samples that are
        held out now."""
        spec = self.at.spec()
        before = score = self.at.before
        kept = True
        if spec["guard"]:
            guard = self._guard()
            before = guard.score(self._undo.marked)
            score = guard.score()
            if self._source.held() >= min(_LEAST, self._source.window):
                strict = bool(spec.get("realigns")) and spec["guard"] != "free"
                kept = score.better_than(before, strict)
        self.at.measured(before)
        self._leave()
        self._end = self._score(record.KEEP if kept else record.ROLLBACK, score)
        self._store.append(self._end)
        self._take_end(self._end)

    def _take_end(self, rec):
        if rec[0] == record.ROLLBACK:
            self._undo.roll_back()
        self.at = self.at.after(rec)

    def _guard(self):
        """Of the samples that are held out now."""
        spec = self.at.spec()
        source = self._source
        model = self.run.model
        held = range(min(source.held(), source.window))
        if spec["guard"] == "free":
            return FreeGuard(model, source, held)
        index = array("H", (i for i in held if source.label(i) >= 0))
        label = array("H", (source.label(i) for i in index))
        return Guard(model, source, index, label, 0, len(index))

    def _prepare(self, stage):
        source = self._source
        batch = batch_of(self.at.spec())
        first = source.window if batch else 0
        n = batch or source.window
        label = source.labels(first) if source.labelled else None
        stage.prepare(source, range(first, first + n), label, (0, None))
        self._health = Health(self.run.model)
