"""The face of a training run; the work is in start.py and engine.py."""

from .. import forget, leave
from ..board import clock, memory
from ..board.memory import Compact
from ..methods import forget_declarations
from .engine import Engine, Samples


def _check(name, value, low=1, high=(1 << 30) - 1):
    if not isinstance(value, int) or not low <= value <= high:
        raise ValueError("%s is %d..%d, not %r" % (name, low, high, value))


def _has_begun(k, journal):
    from ..journal import begin

    forget("journal.begin")
    forget("board.same")
    return begin.has_begun(k, journal)


def _checked(recipe, plan, layers):
    with Compact():
        from ..net import trainable
        from ..recipes import names

        recipe = names.recipe(recipe) if isinstance(recipe, str) else recipe
        names.check(recipe)
        trainable.choose(plan, layers)
        names = trainable = None
        forget_declarations()
        forget("net.trainable")
        leave("recipes")
    return recipe


def resume(model, journal, **options):
    """A Trainer that continues the run of a journal file; give its `run` the same data.

    options: sync_every, checkpoint_every, cache, cache_file of Trainer.
    """
    return Trainer(model, None, journal=journal, **options)


class Trainer:
    """Trains what microzo.load gave.

    recipe: a name or a dict (microzo.recipe); layers: "auto", "all", "last2", or operator indices.
    seed: 0 <= seed < 2^30. journal: a new file, or None. ram: bytes for training (None: what is
    free). sync_every: records between flushes; checkpoint_every: steps between checkpoints.
    board_id: 0..65535, this board in a fleet. cache: RAM budget for cached activations (None: all
    free RAM). cache_file: where the others are spilled, one write of it a stage.
    """

    def __init__(
        self, model, recipe="default", layers="auto", seed=1, journal=None, ram=None,
        sync_every=1, checkpoint_every=25, board_id=0, cache=None, cache_file=None, **misspelt
    ):  # fmt: skip
        if misspelt:
            from . import advice

            raise advice.misspelt(misspelt)
        _check("seed", seed, 0)
        _check("board_id", board_id, 0, 65535)
        _check("sync_every", sync_every)
        _check("checkpoint_every", checkpoint_every)
        _check("ram", ram or 0, 0)
        _check("cache", cache or 0, 0)
        if not hasattr(model, "trained"):
            raise TypeError("a Trainer takes what microzo.load gives, not %r" % (model,))
        if recipe is not None:
            if journal is not None and _has_begun(model.k, journal):
                raise ValueError(
                    "%s exists: microzo.resume(model, journal) continues it, or take another name"
                    % journal
                )
            recipe = _checked(recipe, model.plan, layers)
        if model.trained:
            raise ValueError(
                "the model is trained already: model.reset() starts anew, model.save() keeps it"
            )
        self.model = model
        self.recipe = recipe
        self.seed = seed
        self._layers = layers
        self._options = board_id, ram, journal, sync_every, checkpoint_every
        self._cache = cache, cache_file
        self._data = None
        self._engine = None
        self._online = None

    def __repr__(self):
        recipe = self.recipe or self.program or {}
        lines = ["%s: %s" % (key, recipe[key]) for key in recipe if key != "stages"]
        return "\n".join(
            lines + ["  %s" % stage for stage in recipe.get("stages", ())] + self.outcomes()
        )

    @property
    def program(self):
        """The resolved recipe of the run, or None before it."""
        return None if self._engine is None else self._engine.run.program

    @property
    def finished(self):
        return self._engine is not None and self._engine.at.finished

    def outcomes(self):
        """One line for every stage that is finished, then one for whatever was left out."""
        if self._engine is None:
            return []
        from . import outcomes

        forget("train.outcomes")
        return outcomes.lines(self.program, self._engine.at.outcomes)

    def memory(self, samples=256, labelled=True):
        """What a run on so many samples takes, before anything is allocated; prints as a table."""
        from . import start

        _check("samples", samples)
        plan = start.memory_of(self.model, self._request(), samples, labelled, self._cache[0])
        start = None
        self._forget_start()
        return plan

    def run(self, data, steps=None):
        """Yields a Step after every step. steps: length of the training stages in place of the
        recipe's.

        After an interruption call it again with the same data: it goes on, to the same bits.
        """
        if steps is not None:
            _check("steps", steps)
        self._begin(data, steps)
        return self._loop(self._engine)

    def find_step(self, data):
        """Sets the step size of the recipe's first zeroth-order stage by a few hundred forwards
        (search/step.py), before `run`; returns its shift."""
        from ..search import step

        if self.recipe is None or self._data is not None:
            raise ValueError("find_step comes before the run, on a new trainer")
        shift, self.recipe = step.find(self.model, self._request(), data)
        step = None
        leave("search")
        return shift

    def step(self, x, y=None):
        """Trains on one live sample: raw bytes x, class y (None where no label is needed); its
        loss in nats before the update. For recipes of one stage, unguarded.

        Every full batch, or all probes of a step, or the samples of an operator of realign make
        an update.

        Exact gradients of live samples cannot be replayed: nobody has the samples.
        """
        if self._online is None:
            from .online import Online, single

            if self.recipe is not None:
                self.recipe = single(self.recipe)
            self._online = Online(self.model, self.recipe)
            self._cache = 0, None
        online = self._online
        if self.recipe is None:
            self._begin(online.source, None)  # the journal tells what is trained
        label = online.check(self.recipe or self.program, x, y)
        self._begin(online.source, None)
        return self._engine.feed(label) / 4096

    def _request(self):
        from .start import Request

        board_id, ram, journal, sync_every, checkpoint_every = self._options
        return Request(
            self.recipe, self._layers, self.seed, board_id, ram, journal, sync_every,
            checkpoint_every,
        )  # fmt: skip

    def _begin(self, data, steps):
        if self._data is not None:
            if data is not self._data:
                raise ValueError("this trainer has begun with other data, make a new one")
            return
        model = self.model
        model.check(data)
        with Compact():
            from . import start

            if self.recipe is None:
                run, store = start.resume(model, self._request(), data)
                self.seed = run.seed
            else:
                run, store = start.start(model, self._request(), data, steps)
            start = None
            self._forget_start()  # not needed again: the code makes room
            from ..data.draw import draw

            index, label = draw(
                model.k, data, run.program["samples"], model.classes, run.seed,
                bytearray(model.sample_len),
            )  # fmt: skip
            draw = None
            forget("data.draw")
            if not getattr(data, "live", False):
                self._warn(data, index, label)
        self._engine = Engine(run, Samples(data, index, label, *self._cache), store)
        if self.recipe is None:
            self._engine.restore()
        self._data = data

    def _warn(self, data, index, label):
        """Of samples that a run may not learn from."""
        from . import advice

        advice.warn(self.model, data, index, label)
        forget("train.advice")

    @staticmethod
    def _forget_start():
        forget("train.start")
        forget("journal.file")
        forget("journal.begin")
        forget("board.same")
        forget("net.trainable")
        forget("net.tables")
        forget("net.header")
        leave("recipes")

    @staticmethod
    def _loop(engine):
        memory.free()  # what beginning left on the stack would keep its code
        mean = 0  # ms a step, over the last ones
        while not engine.at.finished:
            begun = clock.now()
            if engine.advance():
                ms = clock.since(clock.now(), begun)
                mean = (3 * mean + ms) // 4 if mean and engine.at.step > 1 else ms
                yield engine.progress(mean)
