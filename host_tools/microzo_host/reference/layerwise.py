"""A model on any kernels (oracle, C, pure Python), operator by operator, outputs kept."""

from array import array

import numpy as np

from microzo.net import arena as planner
from microzo.net import words as L

from ..model import file as modelfile
from ..model import safetensors


def kernels():
    """The C kernels if they are built, else the oracle."""
    try:
        from .. import native as module
    except (ImportError, OSError):
        from .. import reference as module
    return module


class Runner:
    """Buffers of one model; nothing is trainable, so the parameters are those of the file."""

    def __init__(self, model, module=None):
        tensors, _ = safetensors.unpack(modelfile.pack(model), "the model")
        self.model, self.module = model, module or kernels()
        self.plan = array("i", tensors.pop("plan").tolist())
        self.blob = bytearray(b"".join(a.tobytes() for a in tensors.values()))
        planner.layout(self.plan)
        planner.place_state(self.plan, [])
        self.arena = bytearray(self.plan[L.ARENA_LEN])
        self.state = bytearray(8)

    def run(self, sample):
        """(int8 output of every operator, logits) for one raw uint8 sample."""
        raw = np.ascontiguousarray(sample, np.uint8).tobytes()
        self.module.input(self.plan, self.blob, self.arena, raw)
        outputs = []
        for i in range(self.plan[L.N_OPS]):
            self._forward(i, i + 1)
            outputs.append(self._output(i))
        return outputs, self._logits()

    def logits(self, sample):
        """The logits alone, in one call of the kernels."""
        raw = np.ascontiguousarray(sample, np.uint8).tobytes()
        self.module.input(self.plan, self.blob, self.arena, raw)
        self._forward(0, self.plan[L.N_OPS])
        return self._logits()

    def last(self, sample):
        """int8 output of the last operator, in one call of the kernels."""
        self.logits(sample)
        return self._output(self.plan[L.N_OPS] - 1)

    def _forward(self, first, last):
        self.module.forward(self.plan, self.blob, self.state, self.arena, first, last, 0)

    def _output(self, i):
        o = L.op_base(i)
        shape = [self.plan[o + word] for word in (L.OUT_H, L.OUT_W, L.OUT_C)]
        start = self.plan[o + L.OUT_OFF]
        return np.frombuffer(self.arena, np.int8, int(np.prod(shape)), start).reshape(shape).copy()

    def _logits(self):
        return np.frombuffer(
            self.arena, np.int32, self.plan[L.CLASSES], self.plan[L.LOGITS_OFF]
        ).copy()
