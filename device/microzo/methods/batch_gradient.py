"""The stage of mini-batches: a source adds every sample to the gradient buffers, then one update.

Sources: Exact (here; head and tail), Nodes and AllNodes (nodes.py). Momentum stays in the buffers.
"""

from array import array

from ..journal import record
from ..zo.schedule import extra_shift
from . import unit_steps
from .stage import Stage


class Exact:
    """The gradient in closed form of the head, or of one convolution and the head."""

    wide = 0

    def __init__(self, model, gradient):
        self._model = model
        self._gradient = gradient
        self._error = array("i", bytearray(4 * model.classes))
        self.loss = 0  # Q12, of the last sample
        self.answer = 0  # its class

    def calibrate(self, samples, spec, batch, sizes):
        """sizes: halvings of a step that suits the model, of the convolution and of the head."""
        g = self._gradient
        conv = g.operators[0] if g.operators else -1
        shifts = unit_steps(self._model, g, conv, samples, batch)
        if g.operators:
            sizes[0] = max(0, min(28, shifts[0] + spec["conv_shift"]))
        sizes[-1] = max(0, min(28, shifts[1] + spec["head_shift"]))

    def add(self, step, i, label):
        """Adds the gradient of the sample whose prefix is in the arena."""
        m = self._model
        k = m.k
        g = self._gradient
        self.answer = k.forward(m.plan, m.blob, m.state, m.arena, g.first, m.ops, 0)
        self.loss = k.loss(m.plan, m.arena, label, self._error)
        g.add_head(self._error)
        if g.operators:
            k.tail_grad(
                m.plan, m.blob, m.state, m.arena, g.operators[0], g.head, self._error, g.body
            )


class BatchGradient(Stage):
    """A stage. Its STEP: uint16 indices of the batch in the data; aux: what is added to the shifts
    of the STAGE."""

    clean = False  # an interrupted estimate leaves part of a batch in the buffers

    def __init__(self, run, spec, seed, gradient, source):
        Stage.__init__(self, run, spec, seed)
        self.wide = source.wide
        self._gradient = gradient
        self._source = source
        self.per_step = self.count = spec["batch"]
        self.sizes = bytearray(len(gradient.operators) + 1)
        self.record = record.new(record.STEP, 2 * self.per_step, run.board_id)
        self.correct = 0

    def first(self):
        return self._gradient.first

    def place(self):
        self._gradient.place()

    def calibrate(self):
        self._source.calibrate(self.samples, self.spec, self.per_step, self.sizes)

    def begin(self, step):
        self.loss = self.correct = 0

    def take(self, step, i):
        samples = self.samples
        source = self._source
        source.add(step, i, samples.label)
        self.loss += source.loss >> 2  # of 1,024 samples it stays a small integer of a board
        self.correct += source.answer == samples.label
        record.put16(self.record, record.HEADER + 2 * i, samples.index)

    def finish(self, step):
        self.loss <<= 2
        record.put32(self.record, 4, step)
        record.put16(self.record, 10, extra_shift(step, self.steps))

    def apply(self, rec):
        """The buffers hold the batch already."""
        self._gradient.apply(self.sizes, record.get16(rec, 10), self.spec["decay"])

    def replay(self, rec, data):
        self._check(rec, record.STEP)
        self._rerun(rec, data, record.HEADER, self.per_step)
        self.apply(rec)
