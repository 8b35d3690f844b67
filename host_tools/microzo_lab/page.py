"""The study's page and plots, from the rows of accuracy.json and nothing else."""

import pathlib

import pandas

from microzo_host.data import colour_corruptions, corruptions

from . import plot

NOTES = "<!-- notes: what is below is written by hand and kept -->"
_YARDSTICKS = {
    "bp-bias-scale": "back-propagation, bias and scale",
    "bp-head": "back-propagation, head",
    "bp-statistics": "batch statistics alone",
}
_BESIDE = (("zero-shot", "zero_shot"), ("back-propagation, full", "bp"))
_ABOUT = """\
Made by `make study` from build/study/accuracy.json (`make study-quick`: fewer runs, ten minutes).

- The board's trainer ran over the host's C kernels: every figure is what a board reaches, to the
  bit.
- Figures are int8 accuracy in per cent. Nothing was tuned on the shifts shown.
- In brackets: standard deviation over seeds of the mean over shifts.
- *runs*: shifts times seeds. Recipes with different runs are compared by the columns to the right
  of them, which pair every run with its own zero-shot and back-propagation.
- Back-propagation is full fine-tuning after batch statistics were adapted, in float, then int8.
- *share*: gain over zero-shot divided by back-propagation's.
- *harm*: the lowest 95 % bound of a run's paired gain."""


def write(rows, path):
    """Write the page and, beside it, its plots; hand-written notes below NOTES are kept."""
    path = pathlib.Path(path)
    old = path.read_text() if path.is_file() else ""
    kept = old[old.index(NOTES) :] if NOTES in old else NOTES + "\n"
    for name, *drawing in plots(rows):
        plot.scatter(path.with_name(f"{path.stem}-{name}.svg"), *drawing)
    path.write_text(text(rows, path.stem) + "\n" + kept)


def text(rows, stem="study"):
    """Markdown: for every data set two tables and two plots."""
    parts = ["# Study", _ABOUT]
    for data, table in _tables(rows):
        tests = sorted(set(table.test_images))
        parts += [
            f"## {data}, {table.network.iloc[0]}",
            f"{', '.join(map(str, tests))} test images: a standard error of about "
            f"{50 / tests[0] ** 0.5:.1f} points a run at most.",
            _markdown(_by_recipe(table)),
            _markdown(_by_shift(table)),
            *(f"![{name}]({stem}-{name}.svg)" for name, *_ in _plots(data, table)),
        ]
    return "\n\n".join(parts) + "\n"


def plots(rows):
    """(name, arguments of plot.scatter) of accuracy against forwards and against RAM, for every
    data set."""
    for data, table in _tables(rows):
        yield from _plots(data, table)


def _tables(rows):
    """(data set, its rows as a table), in the order of the rows."""
    table = pandas.DataFrame(rows).convert_dtypes()
    table["accuracy"] = table.accuracy.astype(float)
    for key in ("zero_shot", "bp", "gain_low"):
        table[key] = table[key].astype(float)
    table["geometric"] = [_is_geometric(*pair) for pair in zip(table.dataset, table.corruption)]
    return table.groupby("dataset", sort=False)


def _is_geometric(data, corruption):
    return (colour_corruptions if data == "cifar10" else corruptions).is_geometric(corruption)


def _markdown(table):
    return table.to_markdown(index=False, disable_numparse=True)


def _by_recipe(table):
    """A line a recipe: cost, accuracy by kind of shift, and how it stands beside the others."""
    lines = []
    for recipe, mine in table.groupby("recipe", sort=False):
        first = mine.iloc[0]
        lines.append({
            "recipe": _YARDSTICKS.get(recipe, recipe),
            "N": str(first.n),
            "runs": str(len(mine)),
            "forwards": _or_nothing(first.forwards),
            "G MAC": "" if pandas.isna(first.macs) else f"{first.macs / 1e9:.2f}",
            "RAM": _or_nothing(first.ram_bytes),
            **_accuracies(mine, "accuracy"),
            "gain": f"{(mine.accuracy - mine.zero_shot).mean():.1f}",
            **_distance(mine[mine.bp.notna()]),
            "harm": f"{mine.gain_low.min():+.1f}",
        })  # fmt: skip
    for name, key in _BESIDE:
        once = table[table[key].notna()].drop_duplicates(["corruption", "seed"])
        lines.append({"recipe": name, "runs": str(len(once)), **_accuracies(once, key)})
    return pandas.DataFrame(lines).fillna("")


def _accuracies(table, key):
    return {
        "photometric": _mean(table[~table.geometric], key),
        "geometric": _mean(table[table.geometric], key),
        "all": _mean(table, key),
    }


def _mean(table, key):
    """Mean over the seeds of a seed's mean over shifts, and in brackets its deviation."""
    means = table.groupby("seed")[key].mean()
    if means.empty:
        return "-"
    return f"{means.mean():.1f}" + (f" ({means.std():.1f})" if len(means) > 1 else "")


def _distance(table):
    """From back-propagation, of the rows that have it."""
    whole = (table.bp - table.zero_shot).sum()
    share = (table.accuracy - table.zero_shot).sum() / whole if whole > 0 else None
    below = (table.bp - table.accuracy).mean()
    return {
        "share": "-" if share is None else f"{100 * share:.0f} %",
        "below back-prop.": "-" if table.empty else f"{below:.1f}",
    }


def _or_nothing(number):
    return "" if pandas.isna(number) else str(number)


def _by_shift(table):
    """A line a recipe, a column a shift: the mean over seeds."""
    lines = []
    groups = [(name, table, key) for name, key in _BESIDE]
    for recipe, mine in table.groupby("recipe", sort=False):
        groups.append((_YARDSTICKS.get(recipe, recipe), mine, "accuracy"))
    for name, mine, key in groups:
        means = mine[mine[key].notna()].groupby("corruption")[key].mean()
        lines.append({"recipe": name, **means.map("{:.1f}".format)})
    columns = ["recipe", *sorted(set(table.corruption))]
    return pandas.DataFrame(lines, columns=columns).fillna("-")


def _plots(data, table):
    runs = {
        recipe: set(zip(mine.corruption, mine.seed)) for recipe, mine in table.groupby("recipe")
    }
    most = max(runs.values(), key=len)
    # means over the same shifts and seeds
    table = table[[(c, s) in most for c, s in zip(table.corruption, table.seed)]]
    levels = [("zero-shot", table.zero_shot.mean())]
    if table.bp.notna().all():
        levels.append(("back-prop., full", table.bp.mean()))
    for key, label in (("forwards", "forward passes"), ("ram_bytes", "bytes of RAM")):
        points = [
            (recipe, int(mine[key].iloc[0]), mine.accuracy.mean())
            for recipe, mine in table[table[key].notna()].groupby("recipe", sort=False)
            if runs[recipe] == most
        ]
        if points:
            title = f"{data}: mean accuracy against {label}"
            yield f"{data}-{key.split('_')[0]}", title, label, points, levels
