"""What every stage of a run is made of: the run it belongs to, where its samples come from, the
loop over them.

The engine asks a stage for one step at a time: `estimate(step)` fills `record` and changes nothing
of the model, `apply(record)` does. Replay gives `replay` the records of a journal.
"""

from ..data.order import STAGE, Order
from ..journal import record


class Run:
    """What the stages of a run share. program: the resolved recipe; seed: of the run; gradient:
    buffers of exact gradients, or None before the first stage that has them."""

    def __init__(self, model, program, seed, board_id):
        self.model = model
        self.program = program
        self.seed = seed
        self.board_id = board_id
        self.gradient = None

    def take_program(self, program):
        self.program = program

    def stage_seed(self, index):
        return self.model.k.derive(self.seed, STAGE, index)

    def gradient_for(self, operators, head, first, live, nodes):
        """Zeroed GradientBuffers; the arguments are those of Method.gradient."""
        from .gradient import GradientBuffers

        old = self.gradient
        if old is not None and old.fits(operators, head, nodes):
            old.clear()
            old.start(first)
        else:
            if old is not None:
                self.gradient = None
                old.close()  # its buffers make room
            self.gradient = GradientBuffers(self.model, operators, head, first, live, nodes)
        return self.gradient

    def close(self):
        if self.gradient is not None:
            self.gradient.close()
            self.gradient = None


class Drawn:
    """Samples of the run's draw. load(g) puts the g-th of the stage into the arena, ready for the
    stage's first operator; then index is its place in the data, label its class (0 where there
    are none)."""

    def __init__(self, index, label, loader, order):
        self._index = index
        self._labels = label
        self._loader = loader
        self._order = order
        self.count = len(index)
        self.index = self.label = 0

    def load(self, g):
        j = g if self._order is None else self._order.at(g)
        self._loader.load(j)
        self.index = self._index[j]
        if self._labels is not None:
            self.label = self._labels[j]

    def load_first(self, j):
        """The sample at place j of the draw, whatever the order."""
        self._loader.load(j)

    def close(self):
        self._loader.close()


class Stage:
    """A stage of a run; derived classes have begin, take, finish and apply.

    seed: of the stage. steps; per_step: samples of a step; record: of the last step; sizes: octets
    of the STAGE record, measured by calibrate; loss (Q12 sum), count, correct (-1: unknown) and
    flat (all loss differences were 0) of the last step.
    """

    clean = True  # an interrupted estimate leaves nothing to undo
    shuffled = True  # every pass over the samples is in another order
    flat = False
    wide = 0
    record = None

    def __init__(self, run, spec, seed):
        self.model = run.model
        self.spec = spec
        self.seed = seed
        self.steps = spec["steps"]
        self.per_step = 1
        self.sizes = bytearray(0)
        self.samples = None
        self.loss = self.count = 0
        self.correct = -1
        self._recorded = None

    # what a derived class has

    def first(self):
        """Operator that the stage's passes start from."""
        return 0

    def place(self):
        """Lays out the arena for the stage's passes."""
        self.model.relayout(self.first())

    def calibrate(self):
        """Measures what `sizes` holds, before the first step of the stage."""

    def resume(self, sizes):
        """Takes the step sizes of a STAGE record; ValueError if it is not of this stage."""
        if len(sizes) != len(self.sizes) or any(n > 31 for n in sizes):
            raise ValueError("the journal is damaged: the step sizes do not suit their stage")
        self.sizes[:] = sizes

    def begin(self, step):
        """Before the first sample of a step."""

    def take(self, step, i):
        """Sample i of a step, which is in the arena."""

    def finish(self, step):
        """After the last: fills `record`."""

    def apply(self, rec):
        """Changes the model by a record of the stage, of this run or from a journal."""

    # what the engine uses

    def prepare(self, data, index, label, cache):
        """Takes samples `index` of the data; cache: (bytes or None, file or None) for what of
        them can be computed once."""
        from ..data.cache import Loader

        self.place()
        order = Order(self.model.k, len(index), self.seed) if self.shuffled else None
        loader = Loader(self.model, data, index, self.first(), cache, self.wide)
        self.samples = Drawn(index, label, loader, order)

    def estimate(self, step):
        """One step's record; nothing of the model changes until it is applied."""
        samples = self.samples  # a bound method in its place would be a new object
        g = step * self.per_step if self.shuffled else 0
        self.begin(step)
        for i in range(self.per_step):
            samples.load(g + i)
            self.take(step, i)
        self.finish(step)

    def replay(self, rec, data):
        """apply; stages with exact gradients read the samples of the record again before."""
        self.apply(rec)

    def recall(self, rec):
        """Goes on after a record that a checkpoint made unnecessary to apply."""

    def close(self):
        if self.samples is not None:
            self.samples.close()
            self.samples = None

    def _rerun(self, rec, data, at, count):
        """The passes of a step again, with the samples whose indices are at rec[at:]."""
        if rec[1] & record.LIVE:
            raise ValueError("this journal was trained on live samples, it cannot be replayed")
        if data is None:
            raise ValueError(
                "this journal trained with exact gradients, replay needs the same data: "
                "`--data x.npy y.npy`, on a board microzo.replay(model, journal, data)"
            )
        step = record.get32(rec, 4)
        if self._recorded is None:
            from .recorded import Recorded

            self.place()
            self._recorded = Recorded(self.model, data, self.first(), self.wide)
        source = self._recorded
        source.read(rec, at)
        before = self.samples
        self.samples = source
        try:
            self.begin(step)
            for i in range(count):
                source.load(i)
                self.take(step, i)
        finally:
            self.samples = before

    def _check(self, rec, kind):
        """ValueError unless a record of a journal is one that this stage writes."""
        if rec[0] != kind or self.record is None or len(rec) != len(self.record):
            raise ValueError("the journal is damaged: a record does not suit its stage")
