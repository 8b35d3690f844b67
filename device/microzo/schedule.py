"""Step sizes over a stage."""


def extra_shift(step, steps):
    """0, then one more at 50, 75 and 90 per cent of the steps: every update is halved."""
    return (2 * step >= steps) + (4 * step >= 3 * steps) + (10 * step >= 9 * steps)
