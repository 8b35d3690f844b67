"""Exact integer gradient of the head, or of the last convolution and the head (SPEC.md, 1.7)."""

from array import array

from ..board import memory
from ..net import arena as planner
from ..net import trainable as selection
from ..net import words as L


def grad_bytes(plan, op):
    """Bytes of the gradient buffer of operator `op`: an int32 for each weight and bias."""
    o = L.op_base(op)
    return 4 * plan[o + L.OUT_C] * (planner.row_len(plan, o) + 1)


class Gradient:
    """Buffers and calls. conv, head: operators, or -1 for none; passes start at `first`."""

    def __init__(self, model, conv, head, first=-1):
        self._model = model
        self.conv = conv
        self.several = b""  # operators, if there is more than `conv` (modelwise.py)
        self.opening = None  # the STAGE record
        self.head = head
        self._kept = selection.kept(model.plan, conv)
        # whose outputs node.py perturbs: those of the ADD that adds the convolution's
        self.perturbed = self._kept[-1] if self._kept else -1
        self.start(first)
        n = grad_bytes(model.plan, conv) if conv >= 0 else 0
        self.conv_grad = memory.take("the gradient of the convolution", n)
        self.head_grad = memory.take(
            "the gradient of the head", grad_bytes(model.plan, head) if head >= 0 else 0
        )
        self._error = array("i", bytearray(4 * model.classes))
        self._nodes = None
        self.loss = 0
        self.found = 0

    def start(self, first):
        """Passes start at operator `first`, or right before what has a gradient if it is -1."""
        self.first = first if first >= 0 else self.conv if self.conv >= 0 else self.head

    def place(self):
        """Lays out the arena: the input of `first` is pinned, the outputs that the convolution's
        gradient needs stay live."""
        self._model.relayout(self.first, self._kept)

    def close(self):
        """Lets go of the buffers, whatever still points to this object."""
        self.conv_grad = self.head_grad = self._nodes = None

    def nodes(self):
        """(values, sums) of the convolution's outputs, for node.py; the sums are 0. Taken once,
        while the heap is whole."""
        if self._nodes is None:
            n = planner.out_size(self._model.plan, L.op_base(self.conv))
            self._nodes = (
                memory.take("the nodes' values", n),
                memory.take("the nodes' sums", 4 * n),
            )
        sums = self._nodes[1]
        for i in range(len(sums)):
            sums[i] = 0
        return self._nodes

    def clear(self):
        for v in (self.head_grad, self.conv_grad):
            for i in range(len(v)):
                v[i] = 0

    def add(self, label):
        """Adds the gradient of the sample whose prefix is in the arena; sets `loss` (Q12) and
        `found`, the class."""
        m = self._model
        k = m.k
        self.found = k.forward(m.plan, m.blob, m.state, m.arena, self.first, m.ops, 0)
        self.loss = k.loss(m.plan, m.arena, label, self._error)
        k.head_grad(m.plan, m.blob, m.state, m.arena, self.head, self._error, self.head_grad)
        if self.conv >= 0:
            k.tail_grad(
                m.plan, m.blob, m.state, m.arena, self.conv, self.head, self._error, self.conv_grad
            )

    def apply(self, shift, head_shift, decay):
        """One update; what is left in the buffers is the momentum."""
        m = self._model
        if self.conv >= 0:
            m.k.apply_grad(m.plan, m.state, self.conv, shift, decay, self.conv_grad)
        if self.head >= 0:
            m.k.apply_grad(m.plan, m.state, self.head, head_shift, decay, self.head_grad)
