"""refilter: the first convolution's filters for the input as it is now, then realign of all.

A Wiener filter, folded into the weights: of all linear maps of a patch, W C0 C1^-1 comes nearest
to what the filters W gave for clean patches, where C0 and C1 are the covariances of clean and of
present patches (if what was added to them is not correlated with them; Wiener 1949). Noise is
suppressed where the clean patches have little power, a weak contrast is amplified. No labels.
Its place in a network, and the integer form: ours.
"""

from array import array

from .. import forget
from ..board import memory
from ..journal import record
from ..net import arena as planner
from ..net import words as L
from .realign import Realign


class Refilter(Realign):
    """Steps: the filters, then those of realign. estimate(step) fills `record`; the first one
    allocates."""

    def __init__(self, model, spec, seed, node):
        super().__init__(model, spec, seed, node)
        self._alpha = 256  # spec's is for the filters
        self._settings = spec
        self._seed = seed
        k = planner.row_len(model.plan, L.op_base(0))
        cells = k * (k + 1) // 2
        self._sum = array("i", memory.take("sums of patches", 4 * k))
        self._products = array("i", memory.take("products of patches", 4 * cells))
        self._matrix = array("q", memory.take("covariance of patches", 8 * cells))
        self._filters = record.new(record.FILTER, 2 * model.plan[L.op_base(0) + L.OUT_C] * k, node)
        self.steps = len(self._ops) + 1

    def prepare(self, data, index, label, cache):
        # A cache of samples would take the room that the filters need.
        super().prepare(data, index, label, (0, None))

    def close(self):
        super().close()
        forget("methods.refilter")

    def estimate(self, step):
        if step:
            self.fit(self._ops[step - 1], step)
        else:
            self._refilter()

    def _refilter(self):
        from . import wiener

        self._collect()
        self.record = self._filters
        self.payload = record.payload(self._filters)
        how = self._settings
        wiener.solve(
            self._model, self._sum, self._products, self._matrix, self._n * how["patches"],
            how["ridge"], how["alpha"], self.payload,
        )  # fmt: skip
        forget("methods.wiener")
        record.put32(self.record, 4, 0)

    def _collect(self):
        """Sums and sums of products (lower triangle, by rows) over patches of every sample."""
        m = self._model
        for total in (self._sum, self._products):
            for i in range(len(total)):
                total[i] = 0
        for j in range(self._n):
            self._loader.load(j)
            patches = self._settings["patches"]
            m.k.patch_sums(m.plan, m.arena, self._seed, j, patches, self._sum, self._products)
