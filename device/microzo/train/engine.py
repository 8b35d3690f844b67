"""Runs the stages of a resolved program: write a record, apply it, keep the stage or roll it back.

The engine knows nothing of files: it asks a Store (store.py) to append records, to mark where a
stage began, to bring that back, to save checkpoints. Guards (guard.py) say whether a stage stays.
"""

from ..board import memory
from ..data import cache
from ..journal import record
from ..methods import forget_stages, make
from .guard import Guard
from .health import Health
from .position import Position, score_record
from .progress import Step

CACHE_RESERVE = 24576  # bytes that a cache of its own accord leaves


class Samples:
    """What a run learns from: a data source, indices of the draw, their labels or None; room for
    prefixes: bytes (None: what is free) and a file (None: no such file)."""

    def __init__(self, data, index, label, cache_bytes, cache_file):
        self.data = data
        self.index = index
        self.label = label
        self.cache_bytes = cache_bytes
        self.cache_file = cache_file


class Engine:
    """run: methods.stage.Run. advance() does the next piece. at: the Position."""

    place_of = Position

    def __init__(self, run, samples, store):
        self.run = run
        self.at = self.place_of(run.program)
        self._samples = samples
        self._store = store
        self._stage = None
        self._health = None
        self._guards = {}
        self._measured = None  # (guard, its score) of the state as it is now
        self._dirty = False

    def restore(self):
        """Goes on where the store's records end."""
        self._leave()
        self.at, self._stage = self._store.restore(self.run, self._samples.data)
        if self.at.finished:
            self._close()
        elif self._stage is not None:
            self._prepare(self._stage)

    def advance(self):
        """Does the next piece of the run; True if it was a step."""
        if self._dirty:
            self._recover()
            self._dirty = False
            if self.at.finished:
                return False
        if self.at.stage == len(self.run.program["stages"]):
            self._dirty = self._store.durable
            self._finish()
        elif not self.at.begun:
            self._dirty = True
            self._begin()
        elif self.at.step < self.at.spec()["steps"]:
            if self._stage is None:
                self._dirty = True
                self._enter()
            self._step()
            return True
        else:
            self._dirty = True
            self._end_stage()
        self._dirty = False
        return False

    def begin_stage(self, number):
        """Runs up to the first step of a stage, or to the end of the run."""
        while not self.at.finished and (self.at.stage < number or not self.at.begun):
            self.advance()

    def stage(self):
        """The Stage that has begun."""
        return self._stage

    def guard(self, lo, hi):
        """A Guard over samples lo..hi-1 of the draw."""
        samples = self._samples
        return Guard(self.run.model, samples.data, samples.index, samples.label, lo, hi)

    def progress(self, ms):
        """The Step that was done last, in so many milliseconds."""
        stage = self._stage
        return Step(
            self.at.spec()["kind"], self.at.step, stage.steps, stage.loss, stage.count,
            stage.correct, ms, self._health.warning,
        )  # fmt: skip

    # a stage

    def _enter(self):
        """Makes the stage the run is in, with the step sizes that were measured, if they were."""
        self._leave()
        stage = make_stage(self.run, self.at)
        self._prepare(stage)
        self._stage = stage
        return stage

    def _prepare(self, stage):
        """Its samples and their cache; a guard takes its buffers before that takes the rest."""
        spec = self.at.spec()
        program = self.run.program
        samples = self._samples
        if spec["guard"]:
            self._guard()
        n = program["samples" if spec.get("realigns") else "train"]
        label = None if samples.label is None else samples.label[:n]
        room = samples.cache_bytes
        if room is None:
            room = cache.budget(CACHE_RESERVE)
        stage.prepare(samples.data, samples.index[:n], label, (room, samples.cache_file))
        self._health = Health(self.run.model)

    def _begin(self):
        """STAGE, and MARK with the score before it."""
        run = self.run
        stage = self._enter()
        if not self.at.waits():
            stage.calibrate()
            rec = record.new(record.STAGE, len(stage.sizes), run.board_id, self.at.stage)
            record.payload(rec)[:] = stage.sizes
            self._store.mark(run.model)  # before a stage without a guard has begun
            self._append(rec)
        if not self.at.begun:
            self._append(self._score(record.MARK, self._measure()))
        memory.free()  # what beginning left on the stack would keep code that is forgotten

    def _step(self):
        """One step. From here to the return nothing is allocated, but for a checkpoint."""
        stage = self._stage
        self._dirty = not stage.clean
        stage.estimate(self.at.step)
        self._commit(stage)

    def _commit(self, stage):
        """Writes the record of a step, applies it."""
        self._dirty = True
        self._measured = None
        self._store.append(stage.record)
        self.at.take(stage.record)
        stage.apply(stage.record)
        self._health.look(stage.flat, self.at.step)
        self._store.checkpoint(self.at.step, self.run, stage)
        self._dirty = False

    def _end_stage(self):
        """Measures again; keeps the stage, or restores the state of its MARK."""
        spec = self.at.spec()
        score = self.at.before
        kept = True
        if spec["guard"]:
            score = self._measure()
            strict = bool(spec.get("realigns")) and spec["guard"] != "free"
            kept = score.better_than(self.at.before, strict)
        self._leave()  # its cache makes room
        rec = self._score(record.KEEP if kept else record.ROLLBACK, score)
        if kept:
            self._append(rec)
            return
        self._store.append(rec)
        self._store.rollback(self.run, self._samples.data)
        self._measured = self._guard(), self.at.before
        self.at = self.at.after(rec)  # last: without a journal this is what undoes the stage

    def _finish(self):
        model = self.run.model
        rec = record.new(record.END, 4, self.run.board_id)
        record.put32(rec, record.HEADER, model.k.crc32(model.state, 0, len(model.state)))
        self._append(rec)
        self._close()

    def _recover(self):
        """After an interruption inside a step: the state before it or after it, never between."""
        self._measured = None
        if self._store.durable:
            self.restore()
        else:
            self._leave()
            if self.at.begun:
                self._store.rollback(self.run, None)
                self.at.restart()

    # pieces

    def _append(self, rec):
        self._store.append(rec)
        self.at = self.at.after(rec)

    def _guard(self):
        spec = self.at.spec()
        samples = self._samples
        if spec["guard"] == "free":
            from .free_guard import FreeGuard

            return FreeGuard(self.run.model, samples.data, samples.index)
        program = self.run.program
        held = spec["guard"] == "held" and program["train"] < program["samples"]
        lo = program["train"] if held else 0
        if lo not in self._guards:
            self._guards[lo] = self.guard(lo, program["samples"])
        return self._guards[lo]

    def _measure(self):
        """The guard's score of the state, known where the stage before had the same guard."""
        guard = self._guard()
        if self._measured is None or self._measured[0] is not guard:
            self._measured = guard, guard.score()
        return self._measured[1]

    def _score(self, kind, score):
        model = self.run.model
        crc = model.k.crc32(model.state, 0, len(model.state))
        return score_record(kind, score, self.at.stage, crc, self.run.board_id)

    def _leave(self):
        """Forgets the stage object and its code."""
        if self._stage is not None:
            self._stage.close()
            self._stage = None
            self._forget_code()

    def _forget_code(self):
        forget_stages()

    def _close(self):
        self._leave()
        self._store.close()
        self.run.close()
        self._guards = None
        if self._samples.cache_file is not None:
            self._store.remove(self._samples.cache_file)
        self.run.model.finish()


def make_stage(run, at):
    """The Stage of a run that is at a Position."""
    spec = at.spec()
    if "first_shift" in spec and not at.realigned():
        spec = dict(spec, shift=spec["first_shift"])
    stage = make(run, spec, run.stage_seed(at.stage))
    if at.sizes is not None:
        stage.resume(at.sizes)
    return stage
