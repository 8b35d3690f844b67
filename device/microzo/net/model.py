"""A quantized network in memory: plan, weights (blob), trained values (state), arena."""

from .. import misfit
from ..board import memory
from . import arena as planner
from . import words as L


class Accuracy:
    """Prints as "71.9 % of 500". correct, total: counts; loss: mean cross-entropy in nats."""

    def __init__(self, correct, total, loss):
        self.correct = correct
        self.total = total
        self.loss = loss

    def __float__(self):
        return self.correct / self.total

    def __repr__(self):
        return "%.1f %% of %d" % (100 * self.correct / self.total, self.total)


class Model:
    """Made by microzo.load. Trained values are in `state`; the blob holds what the file held."""

    def __init__(self, k, path, plan, blob, arena, mapped):
        self.k = k
        self.path = path
        self.plan = plan
        self.blob = blob
        self.arena = arena
        self.mapped = mapped
        self.state = bytearray(0)
        self.trained = False
        self.ops = plan[L.N_OPS]
        self.classes = plan[L.CLASSES]
        self.sample_len = plan[L.NET_IN_H] * plan[L.NET_IN_W] * plan[L.NET_IN_C]
        self.placed = 0  # how often the state was: a trainer knows by it that the state is its own
        self._busy = False
        self._encoder = None
        self.clipped = 0

    # one call at a time

    def exclusive(self, work, argument):
        """work(self, argument) while no other call may use the model: ValueError if one does, a
        step or a predict that a timer, a callback or a second thread came into.

        An interrupt before any bytecode leaves the model free. Allocates nothing.
        """
        self._refuse_if_busy()
        try:
            try:
                self._busy = True
                return work(self, argument)
            finally:
                self._busy = False
        finally:
            self._busy = False

    def _refuse_if_busy(self):
        if self._busy:
            raise ValueError(
                "the model is busy with another call: wait for it, predict between steps, or load "
                "a second model"
            )

    def check_placed(self, count):
        """ValueError if the state was placed since `placed` was `count`."""
        if self.placed != count:
            raise ValueError(
                "the model was reset, or another trainer has begun with it: make a new trainer"
            )

    # memory

    def place(self, selections):
        """Gives the (operator, what) pairs trainable state, starting from the file's values."""
        self.placed += 1
        self.state = bytearray(0)
        self.trained = False
        self.state = memory.take(
            "the trainable values", planner.place_state(self.plan, selections)
        )
        if len(self.state):
            self.k.init_state(self.plan, self.blob, self.state)

    def relayout(self, first=0, pin_outputs=()):
        """Lays the arena out for passes that start at operator `first`; enlarges it if it must."""
        self.reserve(planner.layout(self.plan, first, pin_outputs))

    def reserve(self, need):
        """An arena of at least `need` bytes."""
        if need > len(self.arena):
            self.arena = bytearray(0)
            self.arena = memory.take("the activations", need)

    def reset(self):
        """Back to the values of the file; what training changed is forgotten."""
        self._refuse_if_busy()
        self.place(())

    def finish(self):
        """Training is over: the arena is laid out for inference."""
        self.relayout(0)
        self.trained = True

    # inference

    @property
    def shape(self):
        """(rows, columns, channels) of a sample."""
        return tuple(self.plan[L.NET_IN_H : L.NET_IN_C + 1])

    def check(self, data):
        """TypeError if `data` is no data source, ValueError if its samples do not fit."""
        if not hasattr(data, "read_into"):
            raise misfit("of_source", data)
        if hasattr(data, "check"):
            data.check(self)

    def input(self, sample):
        """Maps raw bytes (IN_H*IN_W*IN_C of them), or a list or an array of any kind
        (net/arrays.py), to the input tensor."""
        self.exclusive(_input, sample)

    def encode(self, values, out=None):
        """Sensor values (a list or an array, nested or flat: rows, columns, channels) as a sample
        of raw bytes, in `out` or a new buffer; `clipped` counts those out of range. Arrays of
        uint8 are raw, those of int8 quantized already."""
        from . import arrays

        out, self.clipped = arrays.encode(self, values, out)
        return out

    def encoder(self):
        """The Encoder of this model's input; ValueError if the file does not tell its scale."""
        if self._encoder is None:
            from .encode import Encoder

            self._encoder = Encoder(self)
        return self._encoder

    def names(self):
        """Names of the classes that the file has, or their numbers."""
        from .header import entry

        return entry(self.path, "classes") or [str(i) for i in range(self.classes)]

    def forward(self, first=0, last=None, mode=0):
        """Runs operators first..last-1 on what is in the arena; the class if it reaches the end,
        else 0."""
        return self.exclusive(_forward, (first, self.ops if last is None else last, mode))

    def output(self, op):
        """int8 output of operator `op`, valid after forward(0, op + 1)."""
        from . import results

        return results.output(self, op)

    def logits(self, out=None):
        """int32 logits (Q12 nats) of the last whole forward: a new array, or in `out`, a list or
        an array of any kind that holds them."""
        from . import results

        return results.logits(self, out)

    def probabilities(self):
        """The softmax of the logits: an array of ulab where there is ulab, else array("f")."""
        from . import results

        return results.probabilities(self)

    def predict(self, sample):
        """The class of one sample: raw bytes, or what `input` takes."""
        return self.exclusive(predict, sample)

    def loss(self, sample, label):
        """Cross-entropy in nats of one labelled sample."""
        return self.exclusive(self._measure("loss"), (sample, label))

    def evaluate(self, data, n=None, progress=None):
        """Accuracy on the first n samples of `data`. progress: None, or called with (done, n)
        after each sample."""
        return self.exclusive(self._measure("evaluate"), (data, n, progress))

    def _measure(self, name):
        """A function of measure.py, which a board forgets at once."""
        self._refuse_if_busy()  # before an import: a board that trains has no room for more code
        from .. import forget
        from . import measure

        forget("net.measure")
        return getattr(measure, name)

    # files

    def save(self, path):
        """Writes the model with its trained values, weights rounded to int8, under a new or the
        same name."""
        self._refuse_if_busy()
        from .save import write

        self.exclusive(write, path)

    # printing

    def __repr__(self):
        from .. import forget
        from . import tables

        forget("net.tables")
        forget("net.header")
        return tables.model_table(self)


def _input(model, sample):
    kind = type(sample)
    if kind is not bytearray and kind is not bytes or len(sample) != model.sample_len:
        from . import arrays

        sample = arrays.sample(model, sample, hasattr(model.k, "predict"))
    model.k.input(model.plan, model.blob, model.arena, sample)


def _forward(model, span):
    return model.k.forward(model.plan, model.blob, model.state, model.arena, *span)


def predict(model, sample):
    """Of a model that is held."""
    _input(model, sample)
    return model.k.forward(model.plan, model.blob, model.state, model.arena, 0, model.ops, 0)
