"""Halvings of the step over a stage, as integers (SPEC.md, section 6)."""

SCHEDULES = ("step", "cosine", "constant")
NORM_SCALINGS = ("", "root", "plain")
# 256 * (1 + cos(pi * i / 16)) / 2, rounded
_COSINE = (256, 254, 246, 234, 219, 199, 177, 153, 128, 103, 79, 57, 37, 22, 10, 2, 0)


def norm_scaling(kind, probes, values):
    """Halvings that gradient-norm scaling probes / (probes + values - 1) asks for (arXiv
    2411.05873).

    "": none; "root": half of its log2, for steps of fixed length: an estimate from few probes is
    longer than the gradient by the root of the inverse; "plain": all of it, as published.
    """
    ratio = (probes + values - 1) * 16 // probes
    halvings = 0
    while kind and ratio > (32 << 2 * halvings if kind == "root" else 22 << halvings):
        halvings += 1
    return halvings


def extra_shift(step, steps):
    """0, then one more at 50, 75 and 90 per cent of the steps: every update is halved."""
    return (2 * step >= steps) + (4 * step >= 3 * steps) + (10 * step >= 9 * steps)


def cosine(step, steps):
    """256 at the first step, falling to almost 0 at the last; linear between 17 points."""
    at = step * 256 // steps
    i = at >> 4
    return _COSINE[i] - ((_COSINE[i] - _COSINE[i + 1]) * (at & 15) >> 4)


class Schedule:
    """apply(step, coefs, n) -> halvings of the step; cosine scales coefs in place."""

    def __init__(self, kind, steps):
        self._kind = kind
        self._steps = steps

    def apply(self, step, coefs, n):
        if self._kind == "step":
            return extra_shift(step, self._steps)
        if self._kind == "constant":
            return 0
        factor = cosine(step, self._steps)
        for p in range(n):
            coefs[p] = coefs[p] * factor >> 4
        return 4
