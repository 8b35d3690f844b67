"""node: perturbs one operator's outputs, credits its weights with the loss differences.

Node perturbation of arXiv 2411.05873 (masks of saturated nodes, local weight gradient, a fresh
seed for every sample and query), with the exact gradient of the head beside it if wanted, which
the clean pass gives. The step size (open) and the antithetic form are ours.
"""

from array import array

from ..data import draw as sampling
from ..journal import record
from ..net import arena as planner
from ..net import words as L
from ..zo.schedule import extra_shift, norm_scaling
from . import step_size as rate

_LSB = 8  # a unit step moves a weight by one LSB of 2^8 master units, in the mean
SHARED = 4  # a mode of the kernel `node`: one sign a channel
_POSITIONS = 5  # log2 of how many with the same sign leave room for a batch in 31 bits
_D_SHIFT = 9  # with scale 256: Q12 of (L+ - L-) / 2


class Nodes:
    """The buffers and calls of one perturbed operator; what both the stage and a replay need.

    settings: bytes 16.. of the STAGE record: eps, probes, clip (16 bits), mode, number of
    operators perturbed together, per_channel.
    """

    def __init__(self, model, seed, gradient, settings):
        self._model = model
        self._seed = seed
        self.gradient = gradient
        self.probes = settings[1]
        self._mode = settings[4]
        self._output, self._sums = gradient.nodes()
        self._params = array(
            "i",
            (
                gradient.perturbed,
                0,
                0,
                settings[4] | (SHARED if settings[6] else 0),
                settings[0],
                256,
                _D_SHIFT,
                record.get16(settings, 2),
            ),
        )
        self._down = 0  # mean over the probes, rounded up to a power of two
        while 1 << self._down < self.probes:
            self._down += 1
        self._out = array("i", (0, 0))
        self._error = array("i", bytearray(4 * model.classes))
        self.loss = 0
        self.found = 0

    def open(self, opening, more):
        """Puts the step size into the STAGE record, for the gradient that a batch has made."""
        opening[record.HEADER + 14] = unit_shift(self.gradient.conv_grad, more)

    def _down_of(self, op):
        """Halvings of the sums of operator op; equal signs at all positions add up to more."""
        if not self._params[3] & SHARED:
            return self._down
        o = L.op_base(op)
        positions = self._model.plan[o + L.OUT_H] * self._model.plan[o + L.OUT_W]
        return self._down + max(0, rate.log2(positions) - _POSITIONS)

    def add(self, step, slot, label):
        """Adds what the sample whose prefix is in the arena says, as number `slot` of the
        step."""
        m = self._model
        k = m.k
        g = self.gradient
        params = self._params
        self.found = k.forward(m.plan, m.blob, m.state, m.arena, g.first, m.ops, self._mode)
        self.loss = k.loss(m.plan, m.arena, label, self._error)
        if g.head >= 0:
            k.head_grad(m.plan, m.blob, m.state, m.arena, g.head, self._error, g.head_grad)
        params[2] = label
        for q in range(self.probes):
            params[1] = k.derive(self._seed, step, slot * self.probes + q)
            k.node(m.plan, m.blob, m.state, m.arena, params, self._output, self._sums, self._out)
        k.node_grad(m.plan, m.arena, g.conv, self._down_of(g.conv), self._sums, g.conv_grad)


class Node:
    """A stage. estimate(step) adds a batch to the gradient buffers and fills `record`."""

    payload = None
    live_flag = record.LIVE
    flat = False
    clean = False  # an interrupted estimate leaves part of a batch in the buffers

    def __init__(self, model, spec, seed, node, gradient):
        self._model = model
        self._spec = spec
        self.steps = spec["steps"]
        self._seed = seed
        self._batch = spec["batch"]
        self.gradient = gradient
        self.record = record.new(record.NODE, 4 + 2 * self._batch, node)
        self.loss = 0  # sum over the batch, Q12
        self.count = self._batch
        self.correct = 0
        self._fed = self.fed_loss = 0

    def prepare(self, data, index, label, cache):
        from ..data.cache import Loader

        self.gradient.place()
        self._index = index
        self._label = label
        self._order = sampling.Order(self._model.k, len(index), self._seed)
        first = self.gradient.first
        self._loader = Loader(self._model, data, index, first, cache, self._spec["mode"])

    def close(self):
        self._loader.close()

    def open(self, opening):
        """Step sizes: a first batch without an update shows how large the gradient is."""
        self._nodes = _nodes(self._model, self.gradient, opening)
        spec = self._spec
        shift = 0
        if self.gradient.head >= 0:
            n = len(self._index)
            shift = rate.shifts(self._model, self.gradient, -1, self._loader, n, self._batch)[1]
        self.estimate_batch(0)
        self._nodes.open(opening, spec["conv_shift"] - _LSB + self._norm_scaling())
        self.gradient.clear()
        opening[record.HEADER + 15] = max(0, min(28, shift + spec["head_shift"]))

    def _norm_scaling(self):
        plan = self._model.plan
        operators = self.gradient.several or (self.gradient.conv,)
        d = sum(planner.out_size(plan, L.op_base(op)) for op in operators)
        return norm_scaling(self._spec["gns"], self._batch * self._spec["probes"], d)

    def resume(self, opening):
        """Takes the step sizes from the STAGE record."""
        at = record.HEADER
        self._shifts = opening[at + 14], opening[at + 15]
        self._nodes = _nodes(self._model, self.gradient, opening)

    def estimate(self, step):
        self.estimate_batch(step)
        self._close(step)

    def estimate_batch(self, step):
        nodes = self._nodes
        loss = correct = 0
        g = step * self._batch
        at = record.HEADER + 4
        for i in range(self._batch):
            j = self._order.at(g + i)
            self._loader.load(j)
            nodes.add(step, i, self._label[j])
            loss += nodes.loss >> 2
            correct += nodes.found == self._label[j]
            record.put16(self.record, at + 2 * i, self._index[j])
        self.loss = loss << 2
        self.correct = correct

    def feed(self, label, step):
        """estimate by single live samples; True when the record is complete."""
        nodes = self._nodes
        if self._fed == 0:
            self.loss = self.correct = 0
        self._loader.load(0)
        nodes.add(step, self._fed, label)
        self.fed_loss = nodes.loss
        self.loss += nodes.loss
        self.correct += nodes.found == label
        self._fed += 1
        if self._fed < self._batch:
            return False
        self._fed = 0
        self._close(step)
        return True

    def _close(self, step):
        extra = extra_shift(step, self.steps)
        rec = self.record
        record.put32(rec, 4, step)
        rec[record.HEADER] = self._shifts[0] + extra
        rec[record.HEADER + 1] = self._shifts[1] + extra
        rec[record.HEADER + 2] = self._spec["decay"]


def _nodes(model, gradient, opening):
    """The Nodes of the stage of a STAGE record."""
    if opening[record.HEADER + 21]:
        from .modelwise import AllNodes as Made
    else:
        Made = Nodes
    seed = record.get32(opening, record.HEADER + 4)
    return Made(model, seed, gradient, opening[record.HEADER + 16 :])


def unit_shift(grad, more):
    """Shift of a step whose mean is one master unit, plus `more`, for a gradient of that size."""
    return max(0, min(28, rate.log2(_mean_size(grad)) + more))


def _mean_size(grad):
    """Mean |value| of the int32 in a buffer, a piece at a time: a copy of it has no room."""
    view = memoryview(grad)
    total = 0
    for at in range(0, len(grad), 256):  # raw bytes: MicroPython takes a view for a list
        total += sum(abs(v) for v in array("i", bytes(view[at : at + 256])))
    return total // (len(grad) // 4)


class NodeUpdate:
    """Applies NODE records of one stage."""

    def __init__(self, model, opening, gradient):
        self._model = model
        self._opening = opening
        self.gradient = gradient
        self._nodes = None

    def apply(self, rec):
        """The buffers already hold the batch."""
        at = record.HEADER
        self.gradient.apply(rec[at], rec[at + 1], rec[at + 2])

    def redo(self, rec, data, sample):
        """Runs the probes of a record again, then applies it. sample: a buffer of one sample."""
        m = self._model
        k = m.k
        at = record.HEADER
        if self._nodes is None:
            self._nodes = _nodes(m, self.gradient, self._opening)
        mode = self._opening[at + 20]
        first = self.gradient.first
        for i in range((len(rec) - record.CRC - at - 4) // 2):
            label = data.read_into(record.get16(rec, at + 4 + 2 * i), sample)
            k.input(m.plan, m.blob, m.arena, sample)
            if first:
                k.forward(m.plan, m.blob, m.state, m.arena, 0, first, mode)
            self._nodes.add(record.get32(rec, 4), i, label)
        self.apply(rec)
