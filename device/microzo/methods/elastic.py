"""elastic: zeroth order for the body, the exact gradient for the head, from the same passes.

ElasticZO (arXiv 2501.04287): the - pass of a probe leaves the head's input and the logits in the
arena, so the head's gradient (SPEC.md, 1.7) costs no forward. Taking it at the perturbed point,
and the integer form, are ours.
"""

from array import array

from ..journal import record
from ..zo.schedule import extra_shift
from . import step_size as rate
from .zo import Zo


class Elastic(Zo):
    """A stage. payload of its records: the coefficients, head shift, decay, indices of samples."""

    live_flag = record.LIVE
    clean = False  # an interrupted estimate leaves part of a batch in the gradient

    def __init__(self, model, spec, seed, node, gradient, prober=None):
        Zo.__init__(self, model, spec, seed, node, prober)
        self.gradient = gradient
        self._batch = self._probes * self._each
        self._head_shift = spec["head_shift"]
        self._decay = spec["decay"]
        self.record = record.new(record.ELASTIC, 4 + 2 * self._probes + 2 * self._batch, node)
        self._coefs += 4
        self._error = array("i", bytearray(4 * model.classes))

    def prepare(self, data, index, label, cache):
        Zo.prepare(self, data, index, label, cache)
        self._index = index

    def open(self, opening):
        """The step size of the head goes into the STAGE record."""
        shift = rate.shifts(
            self._model, self.gradient, -1, self._loader, len(self._index), self._batch
        )[1]
        opening[record.HEADER + 15] = max(0, min(28, shift + self._head_shift))

    def resume(self, opening):
        self._head_shift = opening[record.HEADER + 15]

    def _start(self):
        Zo._start(self)
        self._slot = 0

    def _take(self, p, j, label):
        Zo._take(self, p, j, label)
        add_head(self._model, self.gradient, label, self._error)
        at = record.HEADER + 4 + 2 * (self._probes + self._slot)
        record.put16(self.record, at, self._index[j])
        self._slot += 1

    def _close(self, step):
        Zo._close(self, step)
        rec = self.record
        at = record.HEADER
        rec[at] = self._probes
        rec[at + 1] = self._head_shift + extra_shift(step, self.steps)
        rec[at + 2] = self._decay
        rec[at + 3] = self.spec["mode"] | self.spec["eps_shift"] << 2


def add_head(model, gradient, label, error):
    """Adds the head's gradient of the pass that ran last."""
    k = model.k
    k.loss(model.plan, model.arena, label, error)
    k.head_grad(
        model.plan, model.blob, model.state, model.arena, gradient.head, error, gradient.head_grad
    )


class ElasticUpdate:
    """Applies ELASTIC records of one stage. body: a ZoUpdate."""

    def __init__(self, model, opening, gradient, body):
        at = record.HEADER
        self._model = model
        self._seed = record.get32(opening, at + 4)
        self._lo = opening[at + 2]
        self._hi = opening[at + 3]
        self._what = opening[at + 1]
        self.gradient = gradient
        self._body = body
        self._opening = opening
        self._probe = None

    def apply(self, rec):
        """The gradient already holds the batch."""
        at = record.HEADER
        self._body.move(rec, at + 4, rec[at])
        self.gradient.apply(0, rec[at + 1], rec[at + 2])

    def redo(self, rec, data, sample):
        """Runs the probes of a record again for their head gradients, then applies it."""
        m = self._model
        k = m.k
        if self._probe is None:
            from .stages import prober

            made = prober(m, self._opening)
            self._probe = k.probe if made is None else made.probe
        at = record.HEADER
        probes = rec[at]
        start = at + 4 + 2 * probes
        each = (len(rec) - record.CRC - start) // 2 // probes
        error = array("i", bytearray(4 * m.classes))
        out = array("i", (0, 0))
        step = record.get32(rec, 4)
        lo, hi, what = self._lo, self._hi, self._what
        params = array("i", (lo, 0, 0, rec[at + 3] & 3, what, lo, hi, rec[at + 3] >> 2))
        for i in range(probes * each):
            label = data.read_into(record.get16(rec, start + 2 * i), sample)
            k.input(m.plan, m.blob, m.arena, sample)
            if lo:
                k.forward(m.plan, m.blob, m.state, m.arena, 0, lo, params[3])
            params[1] = k.derive(self._seed, step, i // each)
            params[2] = label
            self._probe(m.plan, m.blob, m.state, m.arena, params, out)
            add_head(m, self.gradient, label, error)
        self.apply(rec)
