"""The face of a training run; the work is in start.py and engine.py."""

from .. import forget, leave
from ..board.memory import Compact
from ..methods import forget_declarations
from .engine import Engine, Samples
from .progress import Steps


def _argument(name, *values):
    """What a function of arguments.py says of them."""
    try:
        with Compact():
            from . import arguments

            return getattr(arguments, name)(*values)
    finally:
        arguments = None
        forget("train.arguments")
        forget("train.paths")
        forget("board.same")
        forget("journal.begin")
        forget("net.trainable")
        forget_declarations()
        leave("recipes")


def _check(name, value):
    _argument("number", name, value)


def resume(model, journal, **options):
    """A Trainer that continues the run of a journal file; give its `run` the same data.

    options: sync_every, checkpoint_every, cache, cache_file of Trainer.
    """
    return Trainer(model, None, journal=journal, **options)


def _find(model, pair):
    from ..search.step import find

    return find(model, *pair)


class Trainer:
    """Trains what microzo.load gave.

    recipe: a name or a dict (microzo.recipe); layers: "auto", "all", "last2", or operator indices.
    seed: 0 <= seed < 2^30. journal: a new file, or None. ram: bytes for training (None: what is
    free). sync_every: records between flushes; checkpoint_every: steps between checkpoints.
    board_id: 0..65535, this board in a fleet. cache: RAM budget for cached activations (None: all
    free RAM). cache_file: where the others are spilled, one write of it a stage. No two of
    journal, cache_file, model and data may be one file.
    """

    def __init__(
        self, model, recipe="default", layers="auto", seed=1, journal=None, ram=None,
        sync_every=1, checkpoint_every=25, board_id=0, cache=None, cache_file=None, **misspelt
    ):  # fmt: skip
        if misspelt:
            from . import advice

            raise advice.misspelt(misspelt)
        options = board_id, journal, sync_every, checkpoint_every
        recipe = _argument("check", model, recipe, layers, seed, ram, cache, cache_file, options)
        self.model = model
        self.recipe = recipe
        self.seed = seed
        self._layers = layers
        self._options = board_id, ram, journal, sync_every, checkpoint_every
        self._cache = cache, cache_file
        self._data = None
        self._engine = None
        self._placed = 0
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

    def memory(self, samples=256, labelled=True, live=False):
        """What a run on so many samples takes, before anything is allocated; prints as a table.

        live: of samples that `step` gets.
        """
        from . import start

        _check("samples", samples)
        cache = 0 if live else self._cache[0]
        plan = start.memory_of(self.model, self._request(), samples, labelled, cache, live)
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
        self.model.exclusive(lambda _, source: self._begin(source, steps), data)
        return Steps(self.model, self._engine, self._placed)

    def find_step(self, data):
        """Sets the step size of the recipe's first zeroth-order stage by a few hundred forwards
        (search/step.py), before `run`; returns its shift."""
        if self.recipe is None or self._data is not None:
            raise ValueError("find_step comes before the run, on a new trainer")
        shift, self.recipe = self.model.exclusive(_find, (self._request(), data))
        leave("search")
        return shift

    def step(self, x, y=None):
        """Trains on one live sample: raw bytes x, class y (None where no label is needed).

        Returns a LiveStep: the loss before, and what is learned or waited for. The run has no end.
        Ctrl-C inside it leaves the model whole; the sample may then be given again.
        """
        return self.model.exclusive(self._step, (x, y))

    def _step(self, model, pair):
        x, y = pair
        if self._online is None:
            from .online import Online

            online = Online(self.model, self.recipe, y is not None)
            self.recipe = online.recipe
            self._cache = 0, None
            self._online = online
        online = self._online
        if self.recipe is None and self._data is None:
            self._begin(online.source, None)  # the journal tells what is trained
            online.resumed(self.program)
        x, label = online.check(x, y)
        self._begin(online.source, None)
        model.check_placed(self._placed)
        return online.step(self._engine, x, label)

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
        if hasattr(data, "paths"):
            _argument("apart", model, self._options[2], self._cache[1], data.paths())
        with Compact():
            from . import start

            if self.recipe is None:
                run, store = start.resume(model, self._request(), data)
                self.seed = run.seed
            else:
                run, store = start.start(model, self._request(), data, steps)
            start = None
            self._forget_start()  # not needed again: the code makes room
            if getattr(data, "live", False):
                from .live import LiveEngine

                samples = None
                self._warn(run.program["notes"], data, None, None)
            else:
                samples = self._draw(run, data)
        self._engine = Engine(run, samples, store) if samples else LiveEngine(run, data, store)
        if self.recipe is None:
            self._engine.restore()
        self._placed = model.placed
        self._data = data

    def _draw(self, run, data):
        """The Samples of a run."""
        from ..data.draw import draw

        model = self.model
        index, label = draw(
            model.k, data, run.program["samples"], model.classes, run.seed,
            bytearray(model.sample_len),
        )  # fmt: skip
        forget("data.draw")
        self._warn(run.program["notes"], data, index, label)
        return Samples(data, index, label, *self._cache)

    def _warn(self, notes, data, index, label):
        """Of what was left out, and of samples that a run may not learn from."""
        from . import advice

        advice.warn(self.model, notes, data, index, label)
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
