"""Buffers of exact integer gradients, and their use in an update (SPEC.md, 1.7)."""

from ..board import memory
from ..net import arena as planner
from ..net import words as L


def grad_bytes(plan, op):
    """Bytes of the gradient buffer of operator `op`: an int32 for each weight and bias."""
    o = L.op_base(op)
    return 4 * plan[o + L.OUT_C] * (planner.row_len(plan, o) + 1)


class GradientBuffers:
    """int32 gradients of `operators` (body; parts: a view of each) and of the dense layer `head`
    (-1: none).

    live: operators whose outputs the gradient in closed form of a single operator needs after a
    pass. first: the operator that passes start from; perturbed: the one whose outputs node
    perturbation moves, the ADD behind a single operator where there is one. nodes: "one" or
    "several" operators are perturbed, or "".
    """

    def __init__(self, model, operators, head, first=-1, live=(), nodes=""):
        self._model = model
        self.operators = bytes(operators)
        self.head = head
        self.live = tuple(live)
        self.perturbed = self.live[-1] if self.live else -1
        sizes = [grad_bytes(model.plan, op) for op in operators]
        self.body = memory.take("the gradients of the operators", sum(sizes))
        view = memoryview(self.body)
        self.parts = [view[sum(sizes[:i]) : sum(sizes[: i + 1])] for i in range(len(sizes))]
        n = grad_bytes(model.plan, head) if head >= 0 else 0
        self.head_part = memory.take("the gradient of the head", n)
        self._kind = nodes
        self._values = self._sums = None
        if nodes:
            n = max(planner.out_size(model.plan, L.op_base(op)) for op in operators)
            self._values = memory.take("the nodes' values", 0 if nodes == "several" else n)
            self._sums = memory.take("the nodes' sums", 4 * n)
        self.first = self._start(first)

    def _start(self, first):
        return first if first >= 0 else self.operators[0] if self.operators else self.head

    def start(self, first):
        """Passes start at operator `first`, or at the first one with a gradient if it is -1."""
        self.first = self._start(first)

    def fits(self, operators, head, nodes):
        return (self.operators, self.head, self._kind) == (bytes(operators), head, nodes)

    def place(self):
        """Lays out the arena: the input of `first` is pinned, the outputs that the gradient in
        closed form needs stay live."""
        self._model.relayout(self.first, self.live)

    def nodes(self):
        """(values, sums) of the perturbed outputs, for nodes.py; the sums are 0."""
        _clear(self._sums)
        return self._values, self._sums

    def buffers(self):
        """What a checkpoint keeps of them: the momentum."""
        return [self.head_part, self.body]

    def clear(self):
        _clear(self.head_part)
        _clear(self.body)

    def add_head(self, error):
        """Adds the head's gradient of the pass that ran last; error: that of its loss."""
        m = self._model
        m.k.head_grad(m.plan, m.blob, m.state, m.arena, self.head, error, self.head_part)

    def apply(self, shifts, extra, decay):
        """One update: shifts[i] + extra halvings for operator i, shifts[-1] + extra for the head.
        What is left in the buffers is the momentum, 1 - 2^-decay of it."""
        m = self._model
        for i in range(len(self.parts)):
            op = self.operators[i]
            m.k.apply_grad(m.plan, m.state, op, shifts[i] + extra, decay, self.parts[i])
        if self.head >= 0:
            shift = shifts[-1] + extra
            m.k.apply_grad(m.plan, m.state, self.head, shift, decay, self.head_part)

    def close(self):
        """Lets go of the buffers, whatever still points to this object."""
        self.body = self.head_part = self._values = self._sums = None
        self.parts = ()


def _clear(buf):
    for i in range(len(buf)):
        buf[i] = 0
