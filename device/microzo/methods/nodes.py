"""Node perturbation: outputs are perturbed, weights credited with the loss differences.

Node perturbation of arXiv 2411.05873 (masks of saturated nodes, local weight gradient, a fresh
seed for every sample and query), with the exact gradient of the head beside it if wanted, which
the clean pass gives. The step size and the antithetic form are ours.
"""

from array import array

from ..board.integers import log2, log2_up
from ..net import arena as planner
from ..net import words as L
from ..zo.schedule import norm_scaling
from . import unit_steps

_LSB = 8  # a unit step moves a weight by one LSB of 2^8 master units, in the mean
_POSITIONS = 5  # log2 of how many with the same sign leave room for a batch in 31 bits
_D_SHIFT = 9  # with scale 256: Q12 of (L+ - L-) / 2
_MOVE, _CREDIT, _SHARED = 2, 3, 4  # modes of the kernel `node` (SPEC.md, 1.10)


class Nodes:
    """A source of BatchGradient: one operator's outputs are perturbed, from there to the loss."""

    def __init__(self, model, gradient, spec, seed):
        self._model = model
        self._gradient = gradient
        self._seed = seed
        self._probes = spec["probes"]
        self.wide = spec["wide"]
        self._shared = _SHARED if spec["per_channel"] else 0
        self._values, self._sums = gradient.nodes()
        self._params = array(
            "i",
            (
                gradient.perturbed, 0, 0, self.wide | self._shared, spec["eps"], 256, _D_SHIFT,
                spec["clip"],
            ),
        )  # fmt: skip
        self._out = array("i", (0, 0))
        self._error = array("i", bytearray(4 * model.classes))
        self.loss = self.answer = 0

    def calibrate(self, samples, spec, batch, sizes):
        """A first batch without an update shows how large the gradient is."""
        g = self._gradient
        plan = self._model.plan
        head = 0
        if g.head >= 0:
            head = unit_steps(self._model, g, -1, samples, batch)[1]
        for i in range(batch):
            samples.load(i)
            self.add(0, i, samples.label)
        values = sum(planner.out_size(plan, L.op_base(op)) for op in g.operators)
        scaling = norm_scaling(spec["norm_scaling"], batch * self._probes, values)
        for i in range(len(g.parts)):
            more = spec["conv_shift"] - _LSB + scaling
            sizes[i] = max(0, min(28, log2(_mean_size(g.parts[i])) + more))
        g.clear()
        sizes[-1] = max(0, min(28, head + spec["head_shift"]))

    def add(self, step, i, label):
        """Adds what sample i of a step, whose prefix is in the arena, says."""
        m = self._model
        g = self._gradient
        params = self._params
        self._plain(g.first, label)
        params[2] = label
        for q in range(self._probes):
            params[1] = m.k.derive(self._seed, step, i * self._probes + q)
            self._node()
        self._credit(0)

    def _plain(self, first, label):
        """The pass without perturbations, and the head's gradient from it."""
        m = self._model
        g = self._gradient
        self.answer = m.k.forward(m.plan, m.blob, m.state, m.arena, first, m.ops, self.wide)
        self.loss = m.k.loss(m.plan, m.arena, label, self._error)
        if g.head >= 0:
            g.add_head(self._error)

    def _node(self):
        m = self._model
        m.k.node(
            m.plan, m.blob, m.state, m.arena, self._params, self._values, self._sums, self._out
        )

    def _credit(self, i):
        """The local gradient of operator i from the sums of its nodes: a mean over the probes,
        rounded up to a power of two."""
        m = self._model
        op = self._gradient.operators[i]
        down = log2_up(self._probes)
        if self._shared:  # equal signs at all positions add up to more
            o = L.op_base(op)
            positions = m.plan[o + L.OUT_H] * m.plan[o + L.OUT_W]
            down += max(0, log2(positions) - _POSITIONS)
        m.k.node_grad(m.plan, m.arena, op, down, self._sums, self._gradient.parts[i])


class AllNodes(Nodes):
    """The outputs of all operators are perturbed in the same pair of passes, and all of them learn
    from it (the model-wise variant that arXiv 2411.05873 compares with).

    The other operators' perturbations are noise to each. Nothing but the loss differences is kept
    between the passes and the credit: the signs are made again from the seed.
    """

    def __init__(self, model, gradient, spec, seed):
        Nodes.__init__(self, model, gradient, spec, seed)
        self._eps = spec["eps"]
        self._clip = spec["clip"]
        self._diffs = array("i", bytearray(4 * self._probes))
        self._no_error = bytearray(0)

    def add(self, step, i, label):
        m = self._model
        k = m.k
        g = self._gradient
        params = self._params
        params[2] = label
        params[3] = _MOVE | self._shared
        for q in range(self._probes):
            params[1] = k.derive(self._seed, step, i * self._probes + q)
            d = self._loss(self._eps, label) - self._loss(-self._eps, label) >> 1
            self._diffs[q] = max(-self._clip, min(self._clip, d))
        params[3] = _CREDIT | self._shared
        params[4] = self._eps
        at = g.first
        for n in range(len(g.operators)):
            op = g.operators[n]
            k.forward(m.plan, m.blob, m.state, m.arena, at, op + 1, self.wide)
            at = op + 1
            params[0] = op
            for q in range(self._probes):
                params[1] = k.derive(self._seed, step, i * self._probes + q)
                params[7] = self._diffs[q]
                self._node()
            params[7] = 0
            self._credit(n)
        self._plain(at, label)

    def _loss(self, eps, label):
        """Of a pass with eps times the signs on the outputs of every operator."""
        m = self._model
        k = m.k
        params = self._params
        params[4] = eps
        at = self._gradient.first
        for op in self._gradient.operators:
            k.forward(m.plan, m.blob, m.state, m.arena, at, op + 1, self.wide)
            at = op + 1
            params[0] = op
            self._node()
        k.forward(m.plan, m.blob, m.state, m.arena, at, m.ops, self.wide)
        return k.loss(m.plan, m.arena, label, self._no_error)


def _mean_size(grad):
    """Mean |value| of the int32 in a buffer, a piece at a time: a copy of it has no room."""
    view = memoryview(grad)
    total = 0
    for at in range(0, len(grad), 256):  # raw bytes: MicroPython takes a view for a list
        total += sum(abs(v) for v in array("i", bytes(view[at : at + 256])))
    return total // (len(grad) // 4)
