"""A probe: the losses of one sample with the trained values perturbed along a random direction.

KernelSigns leaves everything to the C kernel `probe`; perturbed_copy.py has what the kernel has
not.
"""

from array import array

from ..net import words as L

TRAIN = ("weights", "biases", "scales")
_WIDE, _ONE_SIDED, _KEEP_PRODUCTS = 1, 2, 4  # bits of the kernel's `mode`


def bits(spec):
    """Bits of words.WEIGHTS, BIASES, MULTIPLIERS for the `train` of a spec."""
    return sum(1 << TRAIN.index(name) for name in spec["train"])


def shares(spec):
    """True if all probes of a step see the same samples: they must where they share a clean
    loss."""
    return bool(spec.get("share")) or not spec["antithetic"]


def moved(plan, spec):
    """Operators of a spec's lo..hi-1 whose weights are trained."""
    return [
        i
        for i in range(spec["lo"], spec["hi"])
        if "weights" in spec["train"] and plan[L.op_base(i) + L.MASTER_OFF] >= 0
    ]


def keeps_products(plan, first, shared):
    """True if the probes of a sample may share the products of operator `first` (SPEC.md, 4.2)."""
    o = L.op_base(first)
    return shared and plan[o + L.KIND] == L.DENSE and plan[o + L.OUT_C] <= L.KEPT


class KernelSigns:
    """One sign a value, made by the kernel while it reads the weights; loss: cross-entropy.

    spec: that of a zeroth-order stage; shared: its probes see the same samples. After `measure`
    out[0] is the loss with + and out[1] that with -, or one-sided 0 (Q12 nats).
    """

    last = None  # only Copy knows the last step

    def __init__(self, model, spec, seed, shared):
        self._model = model
        self._seed = seed
        mode = _WIDE if spec["wide"] else 0
        size = 2
        if keeps_products(model.plan, spec["first"], shared):
            mode |= _KEEP_PRODUCTS
            size = L.KEPT + 8
        if not spec["antithetic"]:
            mode |= _ONE_SIDED
        self.out = array("i", bytearray(4 * size))
        self._params = array(
            "i",
            (spec["first"], 0, 0, mode, bits(spec), spec["lo"], spec["hi"], spec["eps_shift"]),
        )
        self._clean = None
        if not spec["antithetic"]:
            self._clean = array("i", (spec["first"], 0, 0, mode, 0, 0, 0, 0))

    def select(self, lo, hi):
        """Perturbs operators lo..hi-1 alone from now on."""
        self._params[5] = lo
        self._params[6] = hi

    def values(self, op, plain):
        """How many of an operator's `plain` values are perturbed."""
        return plain

    def begin(self, step):
        """The trained values may have changed."""

    def start(self, step, p):
        """Takes the direction of probe p of a step."""
        self._params[1] = self._model.k.derive(self._seed, step, p)

    def sample(self):
        """Another sample is in the arena."""
        if len(self.out) > 2:
            self.out[2] = 0  # the products that are kept belong to the sample before

    def clean(self, label):
        """Loss without a perturbation, Q12."""
        m = self._model
        self._clean[2] = label
        m.k.probe(m.plan, m.blob, m.state, m.arena, self._clean, self.out)
        return self.out[0]

    def measure(self, label):
        self._params[2] = label
        self._call()

    def _call(self):  # apart, so that its frame is small enough for the C stack of a board
        m = self._model
        m.k.probe(m.plan, m.blob, m.state, m.arena, self._params, self.out)

    def rest(self):
        """What the probe's samples together add to the sum of loss differences, Q12."""
        return 0
