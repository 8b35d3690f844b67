"""How the loss differences of a step's probes become coefficients of the update.

A rule is a function (diffs, n, clip) that replaces diffs[0:n] in place: Q12 nats of the mean of
(L+ - L-) / 2 go in, coefficients in -clip..clip come out. A new rule is one function and one row
of RULES.
"""


def value(diffs, n, clip):
    """The difference itself, Q8 nats."""
    for p in range(n):
        diffs[p] = _limit(diffs[p] >> 4, clip)


def sign(diffs, n, clip):
    """+-clip by the sign alone (sign-m-SPSA of QZO-FF, arXiv 2411.04036; ZOQO, arXiv
    2501.06736)."""
    for p in range(n):
        c = diffs[p]
        diffs[p] = clip if c > 0 else -clip if c < 0 else 0


def spread(diffs, n, clip):
    """256 for a difference as large as their mean absolute value: the step does not depend on the
    scale of the loss.

    GRZO (arXiv 2606.02857) and FZOO (arXiv 2506.09034) divide by the standard deviation; the mean
    needs no root.
    """
    total = 0
    for p in range(n):
        total += abs(diffs[p])
    mean = max(1, total // n)
    for p in range(n):
        diffs[p] = _limit((diffs[p] << 8) // mean, clip)


def _limit(c, clip):
    return clip if c > clip else -clip if c < -clip else c


RULES = {"value": value, "sign": sign, "spread": spread}
