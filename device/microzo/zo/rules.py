"""How the loss differences of a step's probes become coefficients of the update.

A rule is a function (diffs, n, clip) that replaces diffs[0:n] in place: Q12 nats of the mean of
(L+ - L-) / 2 go in, coefficients in -clip..clip come out. A new rule is one function and one row
of RULES. Its docstring is its documentation and its paragraph of the specification, where d_p is
what goes in and c_p what comes out.
"""


def value(diffs, n, clip):
    """The difference itself, Q8 nats.

        c_p  = sat(d_p >> 4, -clip, clip)

    As in SPSA and MeZO (arXiv 2305.17333).
    """
    for p in range(n):
        diffs[p] = _limit(diffs[p] >> 4, clip)


def sign(diffs, n, clip):
    """The sign alone.

        c_p  = clip * sign(D_p)                # D_p: the sum, before it is shifted

    sign-m-SPSA of QZO-FF (arXiv 2411.04036), and ZOQO (arXiv 2501.06736).
    """
    for p in range(n):
        c = diffs[p]
        diffs[p] = clip if c > 0 else -clip if c < 0 else 0


def spread(diffs, n, clip):
    """256 for a difference as large as their mean size: the step does not depend on the scale of
    the loss.

        mean = max(1, (sum over the n probes of |d|) // n)
        c_p  = sat((d_p << 8) // mean, -clip, clip)

    GRZO (arXiv 2606.02857) and FZOO (arXiv 2506.09034) divide by the standard deviation; the mean
    needs no root.
    """
    total = 0
    for p in range(n):
        total += abs(diffs[p])
    mean = max(1, total // n)
    for p in range(n):
        diffs[p] = _limit((diffs[p] << 8) // mean, clip)


def ternary(diffs, n, clip):
    """The sign of a difference that is at least half their mean size, else 0: 1.5 bits a probe.

        sum  = sum over the n probes of |d|
        c_p  = clip * sign(d_p)  if 2 * n * |d_p| >= sum, else 0

    A probe whose difference is mostly noise moves nothing. Ours.
    """
    total = 0
    for p in range(n):
        total += abs(diffs[p])
    for p in range(n):
        c = diffs[p]
        if 2 * n * abs(c) < total:
            c = 0
        diffs[p] = clip if c > 0 else -clip if c < 0 else 0


def _limit(c, clip):
    return clip if c > clip else -clip if c < -clip else c


RULES = {"value": value, "sign": sign, "spread": spread, "ternary": ternary}
