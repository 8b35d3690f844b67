"""Step sizes over a stage, as integers."""

SCHEDULES = ("step", "cosine", "constant")
# 256 * (1 + cos(pi * i / 16)) / 2, rounded
_COSINE = (256, 254, 246, 234, 219, 199, 177, 153, 128, 103, 79, 57, 37, 22, 10, 2, 0)


def norm_scaling(kind, nq, d):
    """Halvings of a step that gradient-norm scaling nq / (nq + d - 1) asks for (arXiv 2411.05873).

    kind 0: none; 1: half of its log2, for steps of fixed length: an estimate from nq probes is
    longer than the gradient of d values by the root of the inverse; 2: all of it, as published.
    """
    ratio = (nq + d - 1) * 16 // nq
    halvings = 0
    while kind and ratio > (32 << 2 * halvings if kind == 1 else 22 << halvings):
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
