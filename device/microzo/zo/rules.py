"""What becomes of the loss differences of a step's probes before they move anything."""

RULES = ("value", "sign", "spread")


def settle(diffs, n, rule, clip):
    """Turns diffs[0:n], Q12 of the mean of (L+ - L-) / 2, into coefficients |c| <= clip, in place.

    value: Q8 nats. sign: +-clip by the sign alone (sign-m-SPSA of QZO-FF, arXiv 2411.04036, and
    ZOQO, arXiv 2501.06736). spread: 256 for a difference as large as their mean absolute value, so
    that the step does not depend on the scale of the loss (GRZO, arXiv 2606.02857, and FZOO, arXiv
    2506.09034, divide by the standard deviation; the mean needs no root).
    """
    spread = 0
    if rule == "spread":
        for p in range(n):
            spread += abs(diffs[p])
        spread = max(1, spread // n)
    for p in range(n):
        c = diffs[p]
        if rule == "sign":
            c = clip if c > 0 else -clip if c < 0 else 0
        elif rule == "spread":
            c = (c << 8) // spread
        else:
            c >>= 4
        diffs[p] = clip if c > clip else -clip if c < -clip else c
