"""Training on samples as they come: trainer.step(x, y)."""

from array import array

from ..board import memory
from ..board.integers import log2
from ..data.labels import check_label
from ..methods import forget_declarations, method
from ..zo.probe import shares
from .collected import Collected
from .live_step import LiveStep

_WINDOW = 32  # samples that label-free stages and guards look at
_BATCH = 8  # samples of a step
_RECENT = 30  # predictions that the accuracy counts


class Online:
    """Takes live samples, one at a time.

    recipe: that of the run, or None for the one of a journal that is resumed; labelled: the first
    sample has a label.
    """

    def __init__(self, model, recipe, labelled):
        self._model = model
        self.recipe = None
        needs = True
        if recipe is not None:
            self.recipe = live(recipe, model, memory.free())
            needs = [method(stage["kind"]).labels for stage in recipe["stages"]]
            forget_declarations()
            needs = all(needs) or labelled and any(needs)
        self._needs_label = needs
        samples = 1 if recipe is None else recipe["samples"]
        self.source = Collected(samples, labelled or needs)
        self._no_error = array("i")
        self._ticket = 0  # samples there were before the one that is taken
        self._place = None  # where the run stood then
        self._open = False  # a sample was given whose step has not returned
        self._answer = self._loss = self._right = self._seen = 0

    def resumed(self, program):
        """The program of a journal is known; ValueError if it was no live run's."""
        if "live" not in program:
            raise ValueError("the journal is of an older live run, it cannot go on: start anew")
        self._needs_label = any(method(spec["kind"]).labels for spec in program["stages"])
        forget_declarations()

    def check(self, x, y):
        """(bytes, class or -1) of a sample; ValueError for one that does not fit. y may be None
        where no stage needs labels."""
        model = self._model
        if type(x) not in (bytes, bytearray) or len(x) != model.sample_len:
            from ..net import arrays

            x = arrays.sample(model, x)
        if y is None and not self._needs_label:
            return x, -1
        return x, check_label(y, model.classes)

    def step(self, engine, x, label):
        """The LiveStep of a checked sample. After an exception the same sample, if it is given
        again, counts once."""
        try:
            return self._step(engine, x, label)
        except BaseException:
            self._open = True
            engine.interrupted()
            raise

    def _step(self, engine, x, label):
        source = self.source
        if self._open:
            engine.interrupted()
            engine.act()
        if not (self._open and source.total() > self._ticket and source.holds_last(x, label)):
            self._place = engine.place()
            self._ticket = source.total()
            self._open = True
            self._measure(x, label)
            engine.take(x, label)
        engine.act()
        step = self._told(engine, label, engine.place() != self._place)
        self._open = False
        return step

    def _measure(self, x, label):
        """What the model says of the sample before it learns from it."""
        m = self._model
        m.k.input(m.plan, m.blob, m.arena, x)
        self._answer = m.k.forward(m.plan, m.blob, m.state, m.arena, 0, m.ops, 0)
        if label >= 0:
            self._loss = m.k.loss(m.plan, m.arena, label, self._no_error)

    def _told(self, engine, label, learned):
        right = None
        if label >= 0:
            right = self._answer == label
            self._seen = min(self._seen + 1, _RECENT)
            self._right = (self._right << 1 | right) & (1 << _RECENT) - 1
        ones = sum(self._right >> i & 1 for i in range(_RECENT))
        return LiveStep(
            engine.now(), self._answer, self._loss / 4096 if label >= 0 else None,
            ones / self._seen if self._seen else None, engine.missing(), learned,
        )  # fmt: skip


def live(recipe, model, free):
    """A copy of a recipe for samples that come one by one: small batches, whose probes share
    them; a pass over `samples` of them is a round, at whose end the guard decides."""
    stages = []
    for stage in recipe["stages"]:
        if stage.get("pick"):
            raise ValueError(
                "pick looks at all samples before the run, live samples come one by one: give "
                "layers instead"
            )
        stages.append(_small(dict(stage), recipe["samples"]))
    window = recipe.get("live") or _window(model.sample_len, free)
    return dict(recipe, stages=stages, window=window)


def _small(stage, samples):
    """The stage with steps of at most _BATCH samples, so many in all; with its steps halved."""
    if "batch" in stage:
        before = stage["batch"]
        each = min(before, _BATCH)
        stage.update(batch=each, epochs=1)
    elif "samples" in stage:
        before = stage["samples"] * (1 if shares(stage) else stage["probes"])
        each = min(stage["samples"], _BATCH)
        stage.update(samples=each, steps=max(1, samples // each))
        if stage["antithetic"]:
            stage["share"] = 1
    else:
        return stage
    # An estimate from fewer samples is noisier; more than two halvings would learn too late.
    more = min(2, log2(before // each))
    for name in ("shift", "first_shift", "head_shift", "conv_shift"):
        if name in stage:
            stage[name] = min(28, stage[name] + more)
    return stage


def _window(sample_len, free):
    """As many samples as a quarter of the free bytes holds (None: any), at most _WINDOW."""
    n = _WINDOW
    while free is not None and n > _BATCH and (n + _BATCH) * sample_len > free >> 2:
        n >>= 1
    return n
