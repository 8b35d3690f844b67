"""A rider of a zeroth-order stage: the head's exact gradient, from the last passes of probes."""

from array import array

from . import unit_steps


class HeadGradient:
    """sizes: the halvings of the head's step, measured by calibrate."""

    def __init__(self, model, gradient, spec):
        self._model = model
        self._gradient = gradient
        self._shift = spec["head_shift"]
        self._decay = spec["decay"]
        self.sizes = bytearray(1)
        self._error = array("i", bytearray(4 * model.classes))

    def place(self):
        self._gradient.place()

    def calibrate(self, samples, batch):
        """batch: gradients that are added up in a step."""
        shift = unit_steps(self._model, self._gradient, -1, samples, batch)[1]
        self.sizes[0] = max(0, min(28, shift + self._shift))

    def add(self, label):
        """The gradient of the pass that ran last."""
        m = self._model
        m.k.loss(m.plan, m.arena, label, self._error)
        self._gradient.add_head(self._error)

    def apply(self, extra):
        """The head's update, its step halved `extra` times."""
        self._gradient.apply(self.sizes, extra, self._decay)
