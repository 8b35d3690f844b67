"""The study's page, from the rows of accuracy.json."""

import statistics

from .. import corruptions


def text(rows, test_images):
    """Markdown: a table by kind of shift, and how far each recipe is from back-propagation."""
    seeds = sorted({row["seed"] for row in rows})
    lines = [
        "# Study",
        "",
        f"{', '.join(sorted({row['dataset'] for row in rows}))}, the demo network, "
        f"N = {rows[0]['n']}, {len(seeds)} seed(s), {test_images} test images, int8 accuracy in "
        "per cent: mean over the shifts and seeds (standard deviation over seeds of that mean).",
        "Made by `python -m microzo_host.study.quick`; nothing was tuned on these shifts.",
        "",
        "| recipe | forwards | G MAC | RAM | photometric | geometric | all | below back-prop. |",
        "|---|---|---|---|---|---|---|---|",
    ]
    first = {}
    for row in rows:
        first.setdefault(row["recipe"], row)
    for recipe, row in first.items():
        mine = [r for r in rows if r["recipe"] == recipe]
        beside = [r for r in mine if r["bp"] is not None]
        gap = mean(r["bp"] - r["accuracy"] for r in beside)
        cells = [recipe, row["forwards"], f"{row['macs'] / 1e9:.2f}", row["ram_bytes"]]
        cells += [cell(mine, kind, "accuracy", seeds) for kind in (False, True, None)]
        lines.append("| " + " | ".join(map(str, [*cells, gap])) + " |")
    for name, key in (("zero-shot", "zero_shot"), ("back-propagation, full", "bp")):
        cells = [cell(rows, kind, key, seeds) for kind in (False, True, None)]
        lines.append("| " + " | ".join([name, "", "", "", *cells, ""]) + " |")
    shifts = sorted({row["corruption"] for row in rows})
    lines += ["", "| recipe | " + " | ".join(shifts) + " |", "|---" * (len(shifts) + 1) + "|"]
    for recipe in first:
        cells = [
            mean(r["accuracy"] for r in rows if (r["recipe"], r["corruption"]) == (recipe, shift))
            for shift in shifts
        ]
        lines.append("| " + " | ".join([recipe, *cells]) + " |")
    return "\n".join(lines) + "\n"


def mean(values):
    values = list(values)
    return f"{statistics.fmean(values):.1f}" if values else "-"


def cell(rows, geometric, key, seeds):
    """Mean (deviation over seeds) of the rows of one kind of shift; None: all kinds."""
    chosen = [
        r
        for r in rows
        if r[key] is not None and geometric in (None, corruptions.is_geometric(r["corruption"]))
    ]
    if not chosen:
        return "-"
    by_seed = [[r[key] for r in chosen if r["seed"] == seed] for seed in seeds]
    means = [statistics.fmean(values) for values in by_seed if values]
    spread = f" ({statistics.stdev(means):.1f})" if len(means) > 1 else ""
    return f"{statistics.fmean(means):.1f}{spread}"
