"""spsa with sides = 1: one clean loss a sample, shared by the + passes of all probes.

probes + 1 forwards a sample, where the antithetic form takes 2 a probe (the one-sided estimate of
arXiv 2411.05873, its quantized RGE, and of FZOO, arXiv 2506.09034).
"""

from .zo import Zo


class OneSided(Zo):
    """A stage; its `samples` are seen by every probe of the step."""

    def __init__(self, model, spec, seed, node, prober=None):
        Zo.__init__(self, model, spec, seed, node, prober)
        self._wide = spec["mode"]
        self._params[3] = spec["mode"] | 2
        self._scale -= 1

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
        """All probes on the sample that is loaded; its clean loss."""
        m = self._model
        k = m.k
        out = self._out
        k.forward(m.plan, m.blob, m.state, m.arena, self._params[0], m.ops, self._wide)
        clean = k.loss(m.plan, m.arena, label, self._no_error)
        self.loss += clean
        self._params[2] = label
        for p in range(self._probes):
            self._seed_probe(step, p)
            self._probe(m.plan, m.blob, m.state, m.arena, self._params, out)
            self.diffs[p] += out[0] - clean
        return clean
