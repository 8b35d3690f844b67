"""A quantized network in memory: plan, weights (blob), trained values (state), arena."""

from array import array

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
        self._no_error = array("i")
        self._encoder = None
        self.clipped = 0

    # memory

    def place(self, selections):
        """Gives the (operator, what) pairs trainable state, starting from the file's values."""
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
        self.place(())

    def finish(self):
        """Training is over: the arena is laid out for inference."""
        self.relayout(0)
        self.trained = True

    # inference

    def check(self, data):
        """TypeError if `data` is no data source, ValueError if its samples do not fit."""
        if not hasattr(data, "read_into"):
            raise misfit("of_source", data)
        if hasattr(data, "check"):
            data.check(self)

    def input(self, sample):
        """Maps raw bytes (IN_H*IN_W*IN_C of them), or a list or an array of any kind
        (net/arrays.py), to the input tensor."""
        kind = type(sample)
        if kind is not bytearray and kind is not bytes or len(sample) != self.sample_len:
            from . import arrays

            sample = arrays.sample(self, sample, hasattr(self.k, "predict"))
        self.k.input(self.plan, self.blob, self.arena, sample)

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
        return self.k.forward(
            self.plan,
            self.blob,
            self.state,
            self.arena,
            first,
            self.ops if last is None else last,
            mode,
        )

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
        self.input(sample)
        return self.forward()

    def loss(self, sample, label):
        """Cross-entropy in nats of one labelled sample."""
        self.predict(sample)
        return self.k.loss(self.plan, self.arena, label, self._no_error) / 4096

    def evaluate(self, data, n=None, progress=None):
        """Accuracy on the first n samples of `data`. progress: None, or called with (done, n)
        after each sample."""
        self.check(data)
        n = len(data) if n is None else n
        if not isinstance(n, int) or min(n, len(data)) < 1:
            raise misfit("of_evaluation", n)
        n = min(n, len(data))
        sample = bytearray(self.sample_len)
        correct = loss = 0
        for i in range(n):
            label = data.read_into(i, sample)
            if label is None or not 0 <= label < self.classes:
                raise misfit("of_label", i, label, self.classes)
            correct += self.predict(sample) == label
            loss += self.k.loss(self.plan, self.arena, label, self._no_error)
            if progress:
                progress(i + 1, n)
        return Accuracy(correct, n, loss / n / 4096)

    # files

    def save(self, path):
        """Writes the model with its trained values, weights rounded to int8, under a new or the
        same name."""
        from .save import write

        write(self, path)

    # printing

    def __repr__(self):
        from .. import forget
        from . import tables

        forget("net.tables")
        forget("net.header")
        return tables.model_table(self)
