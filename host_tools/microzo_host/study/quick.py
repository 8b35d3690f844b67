"""The study: recipes against zero-shot and back-propagation, as data and as a page.

`python -m microzo_host.study.quick` (10 minutes) or with ``--full`` (hours) writes
build/study/accuracy.json and study.md beside it (or ``--page FILE``). Finished runs are kept in
build/study/runs, so an interrupted study goes on. Only corruptions.REPORTING are used: nothing
was tuned on them.
"""

import argparse
import importlib.util
import json
import pathlib
import sys

import rich.progress

import microzo

from .. import corruptions
from . import accuracy, page, runs

RECIPES = "realign head tail spsa elastic qzo-ff scales node pmt forward_only default".split()
NETWORK = "demo"
QUICK = {"seeds": 1, "test_images": 1000, "shifts": ("fog", "translate", "impulse")}
FULL = {"seeds": 3, "test_images": 4000, "shifts": [name for name, _ in corruptions.REPORTING]}


def rows_of(data, recipes, seeds, test_images, shifts, folder, jobs, with_bp):
    """The list that accuracy.json holds."""
    severity = dict(corruptions.REPORTING)
    base, wanted = [], {}
    for name in shifts:
        base.append(accuracy.Job(name, severity[name], 0, "zero_shot", test_images, data))
        for seed in range(seeds):
            if with_bp:
                base.append(accuracy.Job(name, severity[name], seed, "bp", test_images, data))
            for recipe in recipes:
                made = microzo.recipe(recipe)
                run = runs.run_of(made, name, severity[name], seed, test_images, data)
                wanted[run] = name, seed, recipe
    beside = accuracy.collect(base, folder, jobs)
    zero = {j.corruption: r for j, r in beside.items() if j.recipe == "zero_shot"}
    yard = {(j.corruption, j.seed): r for j, r in beside.items() if j.recipe == "bp"}
    with rich.progress.Progress() as bars:
        task = bars.add_task("recipes", total=len(wanted))
        found = runs.collect(list(wanted), folder, jobs, lambda run: bars.advance(task))
    return [
        {
            "dataset": data,
            "network": NETWORK,
            "corruption": name,
            "n": found[run]["samples"],
            "seed": seed,
            "recipe": recipe,
            "forwards": found[run]["forwards"],
            "macs": found[run]["macs"],
            "ram_bytes": found[run]["ram_bytes"],
            "zero_shot": percent(zero[name]),
            "accuracy": found[run]["accuracy"],
            "bp": percent(yard[name, seed]) if (name, seed) in yard else None,
        }
        for run, (name, seed, recipe) in wanted.items()
    ]


def percent(right):
    return round(100 * float(right.mean()), 3)


def main(argv=None):
    """Run the study and write its files."""
    parser = argparse.ArgumentParser(prog="microzo_host.study.quick", description=__doc__)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--data", default="fashion")
    parser.add_argument("--recipes", nargs="+", default=RECIPES)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-bp", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, default=accuracy.BUILD / "study")
    parser.add_argument("--page", type=pathlib.Path)
    args = parser.parse_args(argv)
    size = FULL if args.full else QUICK
    with_bp = not args.no_bp and importlib.util.find_spec("torch") is not None
    rows = rows_of(
        args.data, args.recipes, size["seeds"], size["test_images"], size["shifts"],
        args.out / "runs", args.jobs, with_bp,
    )  # fmt: skip
    (args.out / "accuracy.json").write_text(json.dumps(rows, indent=0) + "\n")
    text = page.text(rows, size["test_images"])
    (args.page or args.out / "study.md").write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
