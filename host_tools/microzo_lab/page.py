"""The study's page and plots, from the rows of accuracy.json and nothing else."""

import pathlib
import statistics

from microzo_host.data import colour_corruptions, corruptions

from . import plot

NOTES = "<!-- notes: what is below is written by hand and kept -->"
_YARDSTICKS = {
    "bp-bias-scale": "back-propagation, bias and scale",
    "bp-head": "back-propagation, head",
    "bp-statistics": "batch statistics alone",
}


def write(rows, path):
    """Write the page and, beside it, its plots; hand-written notes below NOTES are kept."""
    path = pathlib.Path(path)
    old = path.read_text() if path.is_file() else ""
    kept = old[old.index(NOTES) :] if NOTES in old else NOTES + "\n"
    for name, svg in plots(rows):
        path.with_name(f"{path.stem}-{name}.svg").write_text(svg)
    path.write_text(text(rows, path.stem) + "\n" + kept)


def text(rows, stem="study"):
    """Markdown: for every data set two tables and two plots."""
    lines = [
        "# Study",
        "",
        "Made by `make study` from build/study/accuracy.json (`make study-quick`: fewer runs, ten "
        "minutes). The board's trainer over the host's C kernels: every figure is what a board "
        "reaches, bit for bit. int8 accuracy in per cent. Nothing was tuned on the shifts shown. "
        "In brackets: standard deviation over seeds of the mean over shifts. *runs*: shifts times "
        "seeds; recipes with different runs are compared by the columns to the right of them, "
        "which pair every run with its own zero-shot and back-propagation (full fine-tuning "
        "after batch statistics were adapted, float, then int8). *share*: gain over zero-shot "
        "divided by back-propagation's. *harm*: the lowest 95 % bound of a run's paired gain.",
    ]
    for data in dict.fromkeys(row["dataset"] for row in rows):
        part = [row for row in rows if row["dataset"] == data]
        lines += ["", *_section(data, part, stem)]
    return "\n".join(lines) + "\n"


def _section(data, rows, stem):
    tests = sorted({row["test_images"] for row in rows})
    lines = [
        f"## {data}, {rows[0]['network']}",
        "",
        f"{', '.join(map(str, tests))} test images: a standard error of about "
        f"{50 / tests[0] ** 0.5:.1f} points a run at most.",
        "",
        "| recipe | N | runs | forwards | G MAC | RAM | photometric | geometric | all | gain "
        "| share | below back-prop. | harm |",
        "|---" * 13 + "|",
    ]
    recipes = list(dict.fromkeys(row["recipe"] for row in rows))
    for recipe in recipes:
        mine = [r for r in rows if r["recipe"] == recipe]
        row = mine[0]
        macs = "" if row["macs"] is None else f"{row['macs'] / 1e9:.2f}"
        cells = [_YARDSTICKS.get(recipe, recipe), row["n"], len(mine), row["forwards"] or "", macs]
        cells += [row["ram_bytes"] or "", *(cell(mine, k, "accuracy") for k in (0, 1, None))]
        cells += [mean(r["accuracy"] - r["zero_shot"] for r in mine), *_beside(mine)]
        cells.append(f"{min(r['gain_low'] for r in mine):+.1f}")
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    for name, key in (("zero-shot", "zero_shot"), ("back-propagation, full", "bp")):
        once = list({(r["corruption"], r["seed"]): r for r in rows if r[key] is not None}.values())
        cells = [cell(once, k, key) for k in (0, 1, None)]
        lines.append(f"| {name} | | {len(once)} | | | | " + " | ".join(cells) + " | | | | |")
    lines += ["", *_by_shift(rows, recipes)]
    for name, _ in plots(rows):
        lines += ["", f"![{name}]({stem}-{name}.svg)"]
    return lines


def _beside(rows):
    """(share of back-propagation's gain, points below it) of rows that have it."""
    beside = [r for r in rows if r["bp"] is not None]
    if not beside:
        return "-", "-"
    gain = sum(r["accuracy"] - r["zero_shot"] for r in beside)
    whole = sum(r["bp"] - r["zero_shot"] for r in beside)
    share = f"{100 * gain / whole:.0f} %" if whole > 0 else "-"
    return share, mean(r["bp"] - r["accuracy"] for r in beside)


def _by_shift(rows, recipes):
    shifts = sorted({row["corruption"] for row in rows})
    lines = ["| recipe | " + " | ".join(shifts) + " |", "|---" * (len(shifts) + 1) + "|"]
    groups = [("zero-shot", rows, "zero_shot"), ("back-propagation, full", rows, "bp")]
    for recipe in recipes:
        mine = [r for r in rows if r["recipe"] == recipe]
        groups.append((_YARDSTICKS.get(recipe, recipe), mine, "accuracy"))
    for name, mine, key in groups:
        cells = [
            mean(r[key] for r in mine if r["corruption"] == shift and r[key] is not None)
            for shift in shifts
        ]
        lines.append("| " + " | ".join([name, *cells]) + " |")
    return lines


def plots(rows):
    """(name, SVG) of accuracy against forwards and against RAM, for every data set."""
    for data in dict.fromkeys(row["dataset"] for row in rows):
        part = [row for row in rows if row["dataset"] == data]
        shown = max((_runs(part, row["recipe"]) for row in part), key=len)
        part = [r for r in part if (r["corruption"], r["seed"]) in shown]
        levels = [("zero-shot", statistics.fmean(r["zero_shot"] for r in part))]
        if all(r["bp"] is not None for r in part):
            levels.append(("back-prop., full", statistics.fmean(r["bp"] for r in part)))
        for key, label in (("forwards", "forward passes"), ("ram_bytes", "bytes of RAM")):
            points = []
            for recipe in dict.fromkeys(r["recipe"] for r in part if r[key]):
                mine = [r for r in part if r["recipe"] == recipe]
                if _runs(part, recipe) == shown:  # a mean over the same shifts and seeds
                    points.append((recipe, mine[0][key], _mean(mine)))
            if points:
                title = f"{data}: mean accuracy against {label}"
                yield f"{data}-{key.split('_')[0]}", plot.scatter(title, label, points, levels)


def _runs(rows, recipe):
    return {(r["corruption"], r["seed"]) for r in rows if r["recipe"] == recipe}


def _mean(rows):
    return statistics.fmean(r["accuracy"] for r in rows)


def mean(values):
    """Text of a mean, "-" of nothing."""
    values = list(values)
    return f"{statistics.fmean(values):.1f}" if values else "-"


def _is_geometric(row):
    module = colour_corruptions if row["dataset"] == "cifar10" else corruptions
    return module.is_geometric(row["corruption"])


def cell(rows, geometric, key):
    """Mean (deviation over seeds) of the rows of one kind of shift; None: all kinds."""
    chosen = [r for r in rows if r[key] is not None and geometric in (None, int(_is_geometric(r)))]
    if not chosen:
        return "-"
    seeds = sorted({r["seed"] for r in chosen})
    means = [statistics.fmean(r[key] for r in chosen if r["seed"] == seed) for seed in seeds]
    spread = f" ({statistics.stdev(means):.1f})" if len(means) > 1 else ""
    return f"{statistics.fmean(means):.1f}{spread}"
