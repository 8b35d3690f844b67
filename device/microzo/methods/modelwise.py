"""node with model_wise: perturbs the outputs of all chosen operators in the same pair of passes.

The loss difference of a pair is credited to the nodes of each of them, whose weights get their
local gradient from it, as in node.py; the other operators' perturbations are noise to it (the
model-wise variant that arXiv 2411.05873 compares with). Nothing but the differences is kept
between the passes and the credit: the signs are made again from the seed.
"""

from array import array

from ..board import memory
from ..journal import record
from ..net import arena as planner
from ..net import words as L
from . import gradient
from . import node as nodes

_MOVE = 2  # modes of the kernel `node` (SPEC.md, 1.10)
_CREDIT = 3


class Gradients(gradient.Gradient):
    """Gradient buffers of several operators: conv_grad holds one after the other, `parts` a view
    of each. Their step sizes are in the STAGE record."""

    def __init__(self, model, several, head):
        super().__init__(model, -1, head, several[0])
        self.conv = several[0]
        self.several = bytes(several)
        sizes = [gradient.grad_bytes(model.plan, op) for op in several]
        self.conv_grad = memory.take("the gradients of the operators", sum(sizes))
        view = memoryview(self.conv_grad)
        self.parts = [view[sum(sizes[:i]) : sum(sizes[: i + 1])] for i in range(len(sizes))]

    def close(self):
        super().close()
        self.parts = ()

    def nodes(self):
        """(nothing, sums of the widest operator's outputs)"""
        if self._nodes is None:
            plan = self._model.plan
            most = max(planner.out_size(plan, L.op_base(op)) for op in self.several)
            self._nodes = (bytearray(0), memory.take("the nodes' sums", 4 * most))
        sums = self._nodes[1]
        for i in range(len(sums)):
            sums[i] = 0
        return self._nodes

    def apply(self, extra, head_shift, decay):
        """One update of every operator, its shift `extra` halvings more than in the STAGE."""
        m = self._model
        at = record.HEADER + 25
        for i in range(len(self.several)):
            shift = self.opening[at + 2 * i] + extra
            m.k.apply_grad(m.plan, m.state, self.several[i], shift, decay, self.parts[i])
        if self.head >= 0:
            m.k.apply_grad(m.plan, m.state, self.head, head_shift, decay, self.head_grad)


class AllNodes(nodes.Nodes):
    """The calls of a batch; settings as those of Nodes."""

    def __init__(self, model, seed, gradient, settings):
        super().__init__(model, seed, gradient, settings)
        self._eps = settings[0]
        self._shared = self._params[3] & nodes.SHARED
        self._clip = record.get16(settings, 2)
        self._found = array("i", bytearray(4 * self.probes))  # loss differences
        self._no_error = bytearray(0)

    def open(self, opening, more):
        at = record.HEADER + 25
        for i in range(len(self.gradient.parts)):
            opening[at + 2 * i] = nodes.unit_shift(self.gradient.parts[i], more)

    def add(self, step, slot, label):
        m = self._model
        k = m.k
        g = self.gradient
        params = self._params
        params[2] = label
        params[3] = _MOVE | self._shared
        for q in range(self.probes):
            params[1] = k.derive(self._seed, step, slot * self.probes + q)
            d = self._loss(self._eps, label) - self._loss(-self._eps, label) >> 1
            self._found[q] = max(-self._clip, min(self._clip, d))
        params[3] = _CREDIT | self._shared
        params[4] = self._eps
        at = g.first
        for i in range(len(g.several)):
            op = g.several[i]
            k.forward(m.plan, m.blob, m.state, m.arena, at, op + 1, self._mode)
            at = op + 1
            params[0] = op
            for q in range(self.probes):
                params[1] = k.derive(self._seed, step, slot * self.probes + q)
                params[7] = self._found[q]
                self._call()
            params[7] = 0
            k.node_grad(m.plan, m.arena, op, self._down_of(op), self._sums, g.parts[i])
        self.found = k.forward(m.plan, m.blob, m.state, m.arena, at, m.ops, self._mode)
        self.loss = k.loss(m.plan, m.arena, label, self._error)
        if g.head >= 0:
            k.head_grad(m.plan, m.blob, m.state, m.arena, g.head, self._error, g.head_grad)

    def _loss(self, eps, label):
        """Of a pass with eps times the signs on the outputs of every operator."""
        m = self._model
        k = m.k
        params = self._params
        params[4] = eps
        at = self.gradient.first
        for op in self.gradient.several:
            k.forward(m.plan, m.blob, m.state, m.arena, at, op + 1, self._mode)
            at = op + 1
            params[0] = op
            self._call()
        k.forward(m.plan, m.blob, m.state, m.arena, at, m.ops, self._mode)
        return k.loss(m.plan, m.arena, label, self._no_error)

    def _call(self):
        m = self._model
        m.k.node(
            m.plan, m.blob, m.state, m.arena, self._params, self._output, self._sums, self._out
        )
