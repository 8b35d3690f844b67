"""The table and the verdicts of the accuracy study."""

import numpy as np
import rich.console
import rich.table

from microzo_host.data import corruptions

# Points below back-propagation.
CLOSE_PHOTOMETRIC, CLOSE_GEOMETRIC, CLOSE_SPSA, CLOSE_FORWARD = 1.0, 3.0, 4.0, 3.0
REALIGN_SHARE = 0.80  # of the photometric gap
HARM = -1.0  # points, lower bound of the paired difference
Z95 = 1.96


def show(rows, results, test_images):
    """Print means, spread and targets; whether all targets that could be judged are met."""
    console = rich.console.Console()
    seeds = sorted({row["seed"] for row in rows})
    console.print(_per_corruption(rows))
    console.print(_means(rows, f"seeds {seeds}, {test_images} test images; mean (sd over seeds)"))
    verdicts = [*targets(rows), harm(results)]
    for text, met in verdicts:
        console.print(
            {True: "met    ", False: "MISSED ", None: "unknown"}[met], text, markup=False
        )
    return all(met is not False for _, met in verdicts)


def targets(rows):
    """(sentence, met or None) of every target that looks at means."""
    photo, geo = _split(rows)
    yield _near(photo, "default", CLOSE_PHOTOMETRIC, "photometric")
    yield _near(geo, "default", CLOSE_GEOMETRIC, "geometric")
    yield _near(photo, "spsa", CLOSE_SPSA, "photometric")
    yield _near(photo, "forward_only", CLOSE_FORWARD, "photometric")
    part = [r for r in photo if r["recipe"] == "realign" and r["bp"] is not None]
    if part:
        zero, reached, bp = (_mean(part, key) for key in ("zero_shot", "accuracy", "bp"))
        share = (reached - zero) / (bp - zero)
        text = f"realign closes {100 * share:.0f} % of the photometric gap (target 80 %)"
        yield text, share >= REALIGN_SHARE
    else:
        yield "realign's share of the gap: no back-propagation to compare with", None
    means = {
        name: _mean(_of(rows, name), "accuracy") for name in ("forward_only", "realign", "spsa")
    }
    if not any(np.isnan(value) for value in means.values()):
        text = "forward_only {forward_only:.1f} beside realign {realign:.1f} and spsa {spsa:.1f}"
        best = max(means["realign"], means["spsa"])
        yield text.format(**means), bool(means["forward_only"] >= best - 0.25)


def harm(results):
    """(sentence, met): the lowest 95 % bound of default's gain over zero-shot, by corruption."""
    bounds = {}
    for name in {job.corruption for job in results}:
        zero = next((r for j, r in results.items() if _is(j, name, "zero_shot")), None)
        after = [r for j, r in results.items() if _is(j, name, "default")]
        if zero is not None and after:
            gain = np.mean(after, axis=0) - zero
            bounds[name] = 100 * (gain.mean() - Z95 * gain.std(ddof=1) / np.sqrt(len(gain)))
    if not bounds:
        return "harm of default: not run", None
    worst = min(bounds, key=bounds.get)
    text = (
        f"default's gain, lowest 95 % bound: {bounds[worst]:+.2f} points ({worst}; target >= -1)"
    )
    return text, bool(bounds[worst] >= HARM)


def _is(job, corruption, recipe):
    return job.corruption == corruption and job.recipe == recipe


def _near(rows, recipe, margin, kind):
    part = [r for r in rows if r["recipe"] == recipe and r["bp"] is not None]
    if not part:
        return f"{recipe}, {kind}: no back-propagation to compare with", None
    below = _mean(part, "bp") - _mean(part, "accuracy")
    text = f"{recipe} is {below:+.2f} points below back-propagation, {kind} (target {margin:.0f})"
    return text, bool(below <= margin)


def _split(rows):
    """(photometric, geometric) rows."""
    geometric = [r for r in rows if corruptions.is_geometric(r["corruption"])]
    return [r for r in rows if r not in geometric], geometric


def _of(rows, recipe):
    return [r for r in rows if r["recipe"] == recipe]


def _mean(rows, key):
    values = [r[key] for r in rows if r[key] is not None]
    return float(np.mean(values)) if values else float("nan")


def _recipes(rows):
    return list(dict.fromkeys(r["recipe"] for r in rows))


def _per_corruption(rows):
    table = rich.table.Table(title="Accuracy in per cent, mean over seeds")
    names = _recipes(rows)
    for column in ("corruption", "zero_shot", *names, "bp"):
        table.add_column(column, justify="left" if column == "corruption" else "right")
    for corruption in dict.fromkeys(r["corruption"] for r in rows):
        part = [r for r in rows if r["corruption"] == corruption]
        cells = [_mean(part, "zero_shot"), *(_mean(_of(part, n), "accuracy") for n in names)]
        table.add_row(corruption, *(f"{v:.1f}" for v in [*cells, _mean(part, "bp")]))
    return table


def _means(rows, title):
    table = rich.table.Table(title=title)
    for column in ("recipe", "photometric", "geometric", "all"):
        table.add_column(column, justify="left" if column == "recipe" else "right")
    photo, geo = _split(rows)
    for label, recipe, key in [
        ("zero_shot", None, "zero_shot"), *((n, n, "accuracy") for n in _recipes(rows)),
        ("bp", None, "bp"),
    ]:  # fmt: skip
        parts = [p if recipe is None else _of(p, recipe) for p in (photo, geo, rows)]
        table.add_row(label, *(_with_spread(part, key) for part in parts))
    return table


def _with_spread(rows, key):
    """`83.1 (0.2)`: mean, and standard deviation over seeds of the seeds' means."""
    seeds = sorted({r["seed"] for r in rows})
    means = [_mean([r for r in rows if r["seed"] == s], key) for s in seeds]
    if not means or np.isnan(means).any():
        return "-"
    spread = np.std(means, ddof=1) if len(means) > 1 else 0.0
    return f"{np.mean(means):.1f} ({spread:.1f})"
