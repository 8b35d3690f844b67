"""Pictures of a sweep of the simulator: accuracy of the recipes, losses step by step."""

import statistics

from . import plots

MOST_PANELS = 6  # of corruptions whose curves are drawn


def draw(rows, steps):
    """{file name: PNG}; rows, steps: those of simulation.results."""
    rows = [row for row in rows if not row["error"]]
    if not rows:
        return {}
    return {"accuracy.png": _accuracy(rows), "curves.png": _curves(rows, steps)}


def _accuracy(rows):
    """A bar for each recipe and corruption, the mean of the seeds, with worst and best; a line at
    what it was before."""
    shifts, recipes = _names(rows, _shift), _names(rows, _recipe)
    width = 0.8 / len(recipes)
    size = max(4.5, 1.2 + 0.34 * len(shifts) * (len(recipes) + 1)), 3.2
    with plots.figure(*size) as (made, axes):
        for i, recipe in enumerate(recipes):
            for j, shift in enumerate(shifts):
                group = [r["accuracy"] for r in rows if (_recipe(r), _shift(r)) == (recipe, shift)]
                if not group:
                    continue
                mean, at = statistics.mean(group), j + (i - (len(recipes) - 1) / 2) * width
                axes.bar(
                    at, mean, 0.92 * width, color=plots.colour(i), label=None if j else recipe
                )
                axes.plot([at, at], [min(group), max(group)], color=plots.INK, linewidth=1)
        for j, shift in enumerate(shifts):
            before = next(r["before"] for r in rows if _shift(r) == shift)
            axes.plot([j - 0.45, j + 0.45], [before] * 2, color=plots.INK, linestyle=(0, (3, 2)),
                      label=None if j else "before")  # fmt: skip
        axes.set_xticks(range(len(shifts)), shifts, rotation=0 if len(shifts) < 6 else 30)
        axes.set_ylabel("right answers, per cent")
        axes.set_ylim(0, 100)
        plots.grid(axes)
        made.legend(loc="outside upper center", ncols=min(4, len(recipes) + 1))
        return plots.png(made)


def _curves(rows, steps):
    """The loss of every step, the mean of the seeds, a panel for each corruption."""
    shifts = _names(rows, _shift)[:MOST_PANELS]
    recipes = _names(rows, _recipe)
    columns = min(3, len(shifts))
    lines = -(-len(shifts) // columns)
    size = 1 + 2.9 * columns, 0.8 + 2.1 * lines
    layout = {"nrows": lines, "ncols": columns, "squeeze": False, "sharey": True}
    with plots.figure(*size, **layout) as (made, panels):
        for shift, axes in zip(shifts, panels.flat):
            for i, recipe in enumerate(recipes):
                curve = _mean_curve(
                    [s for s in steps if (_recipe(s), _shift(s)) == (recipe, shift)]
                )
                axes.plot(*curve, color=plots.colour(i), linewidth=1.2, label=recipe)
            axes.set_title(shift)
            axes.set_xlabel("step")
            plots.grid(axes)
        for axes in panels.flat[len(shifts) :]:
            axes.set_axis_off()
        for axes in panels[:, 0]:
            axes.set_ylabel("loss, nats")
        handles, names = panels.flat[0].get_legend_handles_labels()
        made.legend(handles, names, loc="outside upper center", ncols=min(4, len(names)))
        return plots.png(made)


def _mean_curve(steps):
    """(numbers, losses): steps without a loss, as of realign, are left out."""
    losses = {}
    for step in steps:
        if step["loss"] is not None:
            losses.setdefault(step["number"], []).append(step["loss"])
    numbers = sorted(losses)
    return numbers, [statistics.mean(losses[n]) for n in numbers]


def _shift(row):
    return f"{row['corruption']} {row['severity']}" if row["severity"] else row["corruption"]


def _recipe(row):
    return row["recipe"]


def _names(rows, key):
    return list(dict.fromkeys(map(key, rows)))
