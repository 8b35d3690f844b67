"""spsa whose probes all see the same samples: with sides = 1, or with share = 1.

With sides = 1 they share one clean loss a sample, too: probes + 1 forwards, where the antithetic
form takes 2 a probe (the one-sided estimate of arXiv 2411.05873, its quantized RGE, and of FZOO,
arXiv 2506.09034). A sample is loaded once for all probes of a step, and where its passes begin
with a dense layer, the products of that are made once, too.
"""

from array import array

from ..net import words as L
from .zo import Zo


def keeps(plan, spec):
    """True if a probe of the stage may keep products of its first operator."""
    o = L.op_base(spec["first"])
    return plan[o + L.KIND] == L.DENSE and plan[o + L.OUT_C] <= L.KEPT


class Shared(Zo):
    """A stage; its `samples` are seen by every probe of the step."""

    def __init__(self, model, spec, seed, node, prober=None):
        Zo.__init__(self, model, spec, seed, node, prober)
        mode = spec["mode"]
        if keeps(model.plan, spec):
            mode |= 4
            self._out = array("i", bytearray(4 * (L.KEPT + 8)))
        self._clean = None
        if spec["sides"] == 1:
            mode |= 2
            self._clean = array("i", (spec["first"], 0, 0, mode, 0, 0, 0, 0))
            self._scale -= 1
        self._params[3] = mode

    def measure(self, step):
        g = step * self._each
        self._start()
        for i in range(self._each):
            j = self._order.at(g + i)
            self._loader.load(j)
            self._sample(step, self._label[j])
        self.count = self._each

    def feed(self, label, step):
        if self._fed == 0:
            self._start()
        self._loader.load(0)
        self.fed_loss = self._sample(step, label)
        self._fed += 1
        if self._fed < self._each:
            return False
        self._fed = 0
        self.count = self._each
        self._close(step)
        return True

    def _sample(self, step, label):
        """All probes on the sample that is loaded; its clean loss, or the mean of theirs."""
        m = self._model
        out = self._out
        params = self._params
        if len(out) > 2:
            out[2] = 0  # what is kept belongs to the sample before
        loss = 0
        if self._clean is not None:
            self._clean[2] = label
            m.k.probe(m.plan, m.blob, m.state, m.arena, self._clean, out)
            loss = clean = out[0]
        params[2] = label
        for p in range(self._probes):
            self._seed_probe(step, p)
            self._probe(m.plan, m.blob, m.state, m.arena, params, out)
            if self._clean is None:
                self.diffs[p] += out[0] - out[1]
                loss += out[0] + out[1]
            else:
                self.diffs[p] += out[0] - clean
        if self._clean is None:
            loss //= 2 * self._probes
        self.loss += loss
        return loss
