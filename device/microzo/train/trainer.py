"""Runs the stages of a recipe: write a record, apply it, keep or roll back, resume. How a run
begins is in opening.py."""

from .. import forget
from ..board import clock, files
from ..data import cache
from ..data import draw as sampling
from ..journal import checkpoint, record
from ..journal import file as journals
from ..methods import stages
from . import replay as replayer
from .guard import Guard, helps
from .health import Watch
from .progress import Step, outcome_line

_CACHE_RESERVE = 20480  # bytes that a cache of its own accord leaves


def _check(name, value, low=1, high=(1 << 30) - 1):
    if not isinstance(value, int) or not low <= value <= high:
        raise ValueError("%s is %d..%d, not %r" % (name, low, high, value))


def resume(model, journal, **options):
    """A Trainer that continues the run of a journal file; give its `run` the same data.

    options: sync_every, checkpoint_every, cache, cache_file of Trainer.
    """
    return Trainer(model, None, journal=journal, **options)


class Trainer:
    """recipe: a name or a dict (see recipes.py); layers: "auto", "all", "last2", or operator
    indices (for spsa).

    seed: 0 <= seed < 2^30. journal: a new file, or None. ram: bytes for training (None: what is
    free). sync_every: records between flushes; checkpoint_every: steps between checkpoints.
    node: 0..65535, this board in a fleet. cache: bytes for prefix activations (None: the rest);
    cache_file: a temporary file for those that have no room (one write of it a stage).
    """

    def __init__(
        self,
        model,
        recipe="default",
        layers="auto",
        seed=1,
        journal=None,
        ram=None,
        sync_every=1,
        checkpoint_every=25,
        node=0,
        cache=None,
        cache_file=None,
    ):
        _check("seed", seed, 0)
        _check("node", node, 0, 65535)
        _check("sync_every", sync_every)
        _check("checkpoint_every", checkpoint_every)
        _check("ram", ram or 0, 0)
        _check("cache", cache or 0, 0)
        if recipe is not None:
            if journal is not None and files.exists(journal):
                raise ValueError(
                    "%s exists: microzo.resume(model, journal) continues it, or take another name"
                    % journal
                )
            from ..recipes import names as recipes

            recipe = recipes.recipe(recipe) if isinstance(recipe, str) else recipe
            recipes.check(recipe)
        if not hasattr(model, "trained"):
            raise TypeError("a Trainer takes what microzo.load gives, not %r" % (model,))
        if model.trained:
            raise ValueError(
                "the model is trained already: model.reset() starts anew, model.save() keeps it"
            )
        self.model = model
        self.recipe = recipe
        self.layers = layers
        self.seed = seed
        self.program = None
        self.info = Step()
        self._node = node
        self._journal = journal
        self.ram = ram
        self._sync_every = sync_every
        self._checkpoint_every = checkpoint_every
        self._cache = cache
        self._cache_file = cache_file
        self._writer = None
        self._data = None
        self._stage = None
        self._gradient = None
        self._dirty = False
        self._mark = None
        self._feed = None
        self.at = None

    def __repr__(self):
        recipe = self.recipe or self.program or {}
        lines = ["%s: %s" % (key, recipe[key]) for key in recipe if key != "stages"]
        return "\n".join(
            lines + ["  %s" % stage for stage in recipe.get("stages", ())] + self.outcomes()
        )

    def outcomes(self):
        """One line for every stage that is finished, then one for whatever was left out."""
        if self.at is None:
            return []
        return [
            outcome_line(spec["kind"], made)
            for spec, made in zip(self.program["stages"], self.at.outcomes)
        ] + self.program["notes"]

    # before

    def plan(self, samples=256, labelled=True):
        """What a run on so many samples takes, before anything is allocated; prints as a table."""
        from . import start as opening

        _check("samples", samples)
        made = opening.plan(self, samples, labelled)
        forget("train.start")
        return made

    # run

    def run(self, data, steps=None):
        """Yields the Step after every step. steps: length of the training stages in place of the
        recipe's.

        After an interruption call it again with the same data: it goes on, to the same bits.
        """
        if steps is not None:
            _check("steps", steps)
        self._prepare(data, steps)
        return self._loop()

    def find_step(self, data):
        """Sets the step size of the recipe's first zeroth-order stage by a few hundred forwards
        (finder.py), before `run`; returns its shift."""
        from ..search import step as finder

        if self.recipe is None or self._data is not None:
            raise ValueError("find_step comes before the run, on a new trainer")

        def make(recipe):
            return Trainer(self.model, recipe, self.layers, self.seed, ram=self.ram, cache=0)

        shift = finder.find(make, self.recipe, data)
        self.recipe = dict(self.recipe, stages=[dict(s) for s in self.recipe["stages"]])
        for stage in self.recipe["stages"]:
            if "first_shift" in stage:
                stage["shift"] = stage["first_shift"] = shift
                return shift

    def begin(self, data):
        """run without its steps: advance() does them."""
        self._prepare(data, None)

    def guard_of(self, count):
        """A Guard over the first `count` samples of the draw."""
        return Guard(self.model, self._data, self._index, self._label, 0, count)

    def _loop(self):
        while not self.at.finished:
            begun = clock.now()
            if self.advance():
                self.info.ms = clock.since(clock.now(), begun)
                yield self.info

    def _prepare(self, data, steps):
        if self._data is not None:
            if data is not self._data:
                raise ValueError("this trainer has begun with other data, make a new one")
            return
        self.model.check(data)
        k = self.model.k
        self._open(data, steps)
        forget("train.start")  # not needed again: the code makes room
        self._index, self._label = sampling.draw(
            k,
            data,
            self.program["samples"],
            self.model.classes,
            self.seed,
            bytearray(self.model.sample_len),
        )
        self._guards = {}
        self._data = data

    def _open(self, data, steps):
        if self.recipe is None:
            self._restore(data)
        else:
            from . import start as opening

            opening.start(self, data, steps)

    def checkpoints(self):
        """Files beside the journal."""
        return [self._journal + end for end in (".ck0", ".ck1", ".mark")]

    def _restore(self, data):
        """State and position from the journal; its torn tail is cut."""
        r = replayer.Replayer(self.model, self._journal, data)
        self.program = r.program
        header = r.reader.header
        self.seed = record.get32(header, 24)
        self._node = record.get16(header, 28)
        self._run_crc = r.run_crc
        if self._data is None:
            from . import start as opening

            self._gradient = None
            opening.allocate(self)
        r.gradient = self._gradient
        at = r.scan()
        r.restore(self.checkpoints())
        self._gradient = r.gradient
        r.close()
        if r.reader.end < r.reader.length:
            journals.cut_tail(self._journal, r.reader.end)
        self._leave()
        self.at = at
        if at.finished:
            self._close()
        else:
            self._writer = journals.Writer(self.model.k, self._journal, self._sync_every)

    def _recover(self):
        """After an interruption inside a step: the state before it or after it, never between."""
        self._leave()
        if self._journal is not None:
            if self._writer is not None:
                self._writer.close()
            self._restore(self._data)
        elif self.at.begun:
            memoryview(self.model.state)[:] = self._mark
            self.at.step = 0
            if self._gradient is not None:
                self._gradient.clear()

    def step(self, x, y):
        """Trains on one live sample: raw bytes x, class y; its loss in nats. For recipes of one
        stage, unguarded.

        Exact gradients of live samples cannot be replayed: nobody has the samples.
        """
        if self._feed is None:
            from .online import Feed, single

            if self.recipe is not None:
                self.recipe = single(self.recipe)
            self._cache = 0
            self._cache_file = None
            self._feed = Feed(self)
        return self._feed.take(x, y)

    def begin_live(self, source):
        self._prepare(source, None)
        if not self.at.finished and not self.at.begun:
            self.advance()

    def live_stage(self):
        """The stage that takes samples, or None after its last step."""
        if self.at.finished:
            return None
        if self._stage is None:
            self._enter()
        return self._stage

    def commit_live(self):
        """Writes and applies the complete record of the stage."""
        self._commit(self._stage)
        if self.at.step == self._stage.steps:
            self.advance()
            self.advance()

    # one advance

    def advance(self):
        """Does the next piece of the run; True if it was a step (then `info` tells of it)."""
        if self._dirty:
            self._recover()
            self._dirty = False
            if self.at.finished:
                return False
        if self.at.stage == len(self.program["stages"]):
            self._dirty = self._journal is not None
            self._finish()
        elif not self.at.begun:
            self._dirty = True
            self._begin()
        else:
            if self._stage is None:
                self._dirty = True
                self._enter()
            if self.at.step < self._stage.steps:
                self._step()
                return True
            self._dirty = True
            self._end_stage()
        self._dirty = False
        return False

    def _leave(self):
        """Forgets the stage object; _enter makes it again."""
        if self._stage is not None:
            self._stage.close()
            self._stage = None

    def _spec(self):
        return self.program["stages"][self.at.stage]

    def _stage_seed(self):
        return self.model.k.derive(self.seed, sampling.STAGE, self.at.stage)

    def _enter(self):
        """Makes and prepares the stage the run is in."""
        spec = dict(self._spec())
        if "first_shift" in spec and not self._realigned():
            spec["shift"] = spec["first_shift"]
        if spec["guard"]:
            self._guard()  # before a cache takes what is free
        seed = self._stage_seed()
        opening = (
            self.at.opening
            if self.at.begun
            else stages.stage_record(spec, self.at.stage, seed, self._node)
        )
        if not self.at.begun:
            self._gradient = (
                stages.gradient_for(self.model, opening, self._gradient) or self._gradient
            )
        elif spec["kind"] in stages.GRADIENTS:
            self._gradient.place()  # it holds the momentum the run was left with
        stage = stages.make(self.model, spec, opening, self._node, self._gradient)
        trained = self.program["samples" if spec["kind"] in stages.REALIGN else "train"]
        index = self._index[:trained]
        label = None if self._label is None else self._label[:trained]
        room = self._cache if self._cache is not None else cache.budget(_CACHE_RESERVE)
        stage.prepare(self._data, index, label, (room, self._cache_file))
        if not self.at.begun:
            stage.open(opening)
        stage.resume(opening)
        if self.at.begun and self.at.last is not None and hasattr(stage, "recall"):
            stage.recall(self.at.last)
        record.put32(opening, record.HEADER + 8, stage.steps)
        self.at.opening = opening
        self._applier = stages.Applier(self.model, opening, self._gradient)
        self._watch = Watch(self.model)
        self._stage = stage

    def _realigned(self):
        """True if a stage that realigns was kept before this one."""
        return any(
            outcome[0] and spec["kind"] in stages.REALIGN
            for outcome, spec in zip(self.at.outcomes, self.program["stages"])
        )

    def _begin(self):
        """Opens the stage: STAGE, and MARK with the score before it."""
        self._enter()
        self._append(self.at.opening)
        if self._journal is None:
            memoryview(self._mark)[:] = self.model.state
        if self._spec()["guard"]:
            guard = self._guard()
            guard.measure()
            self.at.correct, self.at.loss, self.at.total = guard.correct, guard.loss, guard.total
            if self._journal is not None:
                self._writer.sync()
                checkpoint.write(
                    self._journal + ".mark", self.model, self._writer.position, self._run_crc
                )
            self._append(self._score_record(record.MARK, guard))
        self.at.step = 0
        self.at.begun = True

    def _guard(self):
        if self._spec()["guard"] == "free":
            from .freeguard import FreeGuard

            return FreeGuard(self.model, self._data, self._index)
        held = self._spec()["guard"] == "held" and self.program["train"] < self.program["samples"]
        lo = self.program["train"] if held else 0
        if lo not in self._guards:
            self._guards[lo] = Guard(
                self.model, self._data, self._index, self._label, lo, self.program["samples"]
            )
        return self._guards[lo]

    def _score_record(self, kind, guard):
        rec = record.new(kind, 16, self._node, self.at.stage)
        at = record.HEADER
        if guard is not None:
            record.put32(rec, at, guard.correct)
            record.put32(rec, at + 4, guard.loss)
            record.put32(rec, at + 8, guard.total)
        record.put32(rec, at + 12, self._state_crc())
        return rec

    def _state_crc(self):
        return self.model.k.crc32(self.model.state, 0, len(self.model.state))

    def _step(self):
        """One step. From here to the return nothing is allocated, but for a checkpoint."""
        stage = self._stage
        self._dirty = not stage.clean
        stage.estimate(self.at.step)
        self._commit(stage)

    def _commit(self, stage):
        """Writes the record of a step, applies it."""
        self._dirty = True
        rec = stage.record
        if self._writer is not None:
            self._writer.append(rec)
        else:
            self.model.k.seal(rec, len(rec) - record.CRC)
        self._applier.apply(rec, stage.payload)
        self.at.step += 1
        self.info.warning = self._watch.look(stage.flat, self.at.step)
        self._tell(stage)
        if self._writer is not None and self.at.step % self._checkpoint_every == 0:
            self._checkpoint()
        self._dirty = False

    def _tell(self, stage):
        info = self.info
        info.stage = self._spec()["kind"]
        info.step = self.at.step
        info.steps = stage.steps
        info.loss_sum = stage.loss
        info.count = stage.count
        if stage.correct >= 0:
            info.correct = stage.correct
            info.total = stage.count
        else:
            info.correct = self.at.correct
            info.total = self.at.total

    def _checkpoint(self):
        self._writer.sync()
        slot = self.at.step // self._checkpoint_every & 1
        gradient = None if self._stage.clean else self._gradient
        checkpoint.write(
            self._journal + ".ck%d" % slot,
            self.model,
            self._writer.position,
            self._run_crc,
            gradient,
        )

    def _end_stage(self):
        """Measures again; keeps the stage, or restores the state of its MARK."""
        spec = self._spec()
        guard = self._guard() if spec["guard"] else None
        kept = True
        if guard is not None:
            guard.measure()
            kept = helps(
                spec["kind"] in stages.REALIGN and spec["guard"] != "free",
                guard.correct, guard.loss, self.at.correct, self.at.loss,
            )  # fmt: skip
        after = self.at.next(kept, guard.correct if guard else 0, guard.total if guard else 0)
        self._append(self._score_record(record.KEEP if kept else record.ROLLBACK, guard))
        if kept:
            self.at = after
        elif self._journal is None:
            memoryview(self.model.state)[:] = self._mark
            self.at = after
        else:
            self._leave()  # its cache makes room
            self._writer.close()
            self._restore(self._data)
        self._leave()

    def _finish(self):
        rec = record.new(record.END, 4, self._node)
        record.put32(rec, record.HEADER, self._state_crc())
        self._append(rec)
        self._close()
        self.at.finished = True

    def _close(self):
        if self._writer is not None:
            self._writer.sync()
            self._writer.close()
            self._writer = None
        self._leave()
        if self._gradient is not None:
            self._gradient.close()
        self._applier = self._gradient = self._mark = self._guards = None
        if self._cache_file is not None:
            files.remove(self._cache_file)
        self.model.relayout(0)
        self.model.trained = True

    def _append(self, rec):
        if self._writer is not None:
            self._writer.append(rec)
