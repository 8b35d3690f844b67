"""The study: recipes against zero-shot and back-propagation, as data and as a page.

`make study-quick` (10 minutes) or `make study` (hours; ``--full``) writes
build/study/accuracy.json and, from that file alone, a page with plots: study.md beside it, or
``--page FILE``. Finished runs are kept in build/study/runs, so an interrupted study goes on.
``--only cifar10`` runs and shows one data set. Only reported corruptions are used: nothing was
tuned on them. A data set whose files are not there is left out, with a line that says so.
"""

import argparse
import importlib.util
import json
import pathlib
import sys

import numpy as np
import rich.progress

from . import accuracy, networks, page, runs
from .parts import FULL, QUICK

Z95 = 1.96


def rows_of(part, folder, jobs, with_torch, kept):
    """The rows of one part of the study (parts.py); kept: of the runs that are finished."""
    severity = dict(networks.reporting(part.data))
    base, wanted = [], {}
    for name in part.shifts:
        base.append(job(part, name, severity[name], 0, "zero_shot"))
        for seed in range(part.seeds):
            for yardstick in part.yardsticks if with_torch else ():
                base.append(job(part, name, severity[name], seed, yardstick))
            for recipe, changes, *label in part.recipes:
                made = runs.settings(runs.recipe_of(recipe), changes)
                label = label[0] if label else recipe
                run = runs.run_of(
                    made, name, severity[name], seed, part.test_images, part.data, label
                )
                wanted[run] = name, seed, label
    if kept:
        base = [j for j in base if accuracy.Cache(folder).get(j) is not None]
        wanted = {run: at for run, at in wanted.items() if runs.kept(run, folder) is not None}
    beside = accuracy.collect(base, folder, jobs)
    right = {(j.corruption, j.seed, j.recipe): bits for j, bits in beside.items()}
    columns = (*rich.progress.Progress.get_default_columns(), rich.progress.MofNCompleteColumn())
    with rich.progress.Progress(*columns) as bars:
        task = bars.add_task(f"{part.data} recipes", total=len(wanted))
        found = runs.collect(list(wanted), folder, jobs, lambda run: bars.advance(task))
    rows = []
    for run, (name, seed, label) in wanted.items():
        got = accuracy.unpacked(found[run]["right"], part.test_images)
        rows.append(row(part, name, seed, label, found[run], got, right))
    for (name, seed, label), got in right.items():
        if label in accuracy.YARDSTICKS and label != "bp":
            nothing = {"samples": part.n, "forwards": None, "macs": None, "ram_bytes": None}
            rows.append(row(part, name, seed, label, nothing, got, right))
    return rows


def job(part, name, severity, seed, recipe):
    """The accuracy.Job of a yardstick or of zero-shot."""
    n = accuracy.SAMPLES if recipe == "zero_shot" else part.n
    return accuracy.Job(name, severity, seed, recipe, part.test_images, part.data, n)


def row(part, name, seed, label, costs, got, right):
    """One entry of accuracy.json; ``gain_low``: lower 95 % bound of the gain, in points."""
    zero, yardstick = right[name, 0, "zero_shot"], right.get((name, seed, "bp"))
    gain = got.astype(float) - zero
    return {
        "dataset": part.data,
        "network": networks.NAMES[part.data],
        "corruption": name,
        "n": costs["samples"],
        "seed": seed,
        "recipe": label,
        "forwards": costs["forwards"],
        "macs": costs["macs"],
        "ram_bytes": costs["ram_bytes"],
        "zero_shot": percent(zero),
        "accuracy": percent(got),
        "bp": None if yardstick is None else percent(yardstick),
        "gain_low": round(100 * (gain.mean() - Z95 * gain.std(ddof=1) / np.sqrt(len(gain))), 3),
        "test_images": part.test_images,
    }


def percent(right):
    """Per cent right, rounded as the file has it."""
    return round(100 * float(right.mean()), 3)


def main(argv=None):
    """Run the study and write its files."""
    parser = argparse.ArgumentParser(prog="microzo_lab.quick", description=__doc__)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", nargs="+", choices=list(networks.NAMES))
    parser.add_argument("--kept", action="store_true", help="run nothing, show what is finished")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-bp", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, default=accuracy.BUILD / "study")
    parser.add_argument("--page", type=pathlib.Path)
    args = parser.parse_args(argv)
    with_torch = not args.no_bp and importlib.util.find_spec("torch") is not None
    if not with_torch:
        print("back-propagation is left out: PyTorch is not installed or --no-bp was given")
    rows = []
    for part in FULL if args.full else QUICK:
        why = networks.missing(part.data)
        if why:
            print(f"{part.data} is left out: {why}")
        elif not args.only or part.data in args.only:
            rows += rows_of(part, args.out / "runs", args.jobs, with_torch, args.kept)
    file = args.out / "accuracy.json"
    file.write_text(json.dumps(rows, indent=0) + "\n")
    print(f"written: {file}")
    target = args.page or args.out / "study.md"
    page.write(json.loads(file.read_text()), target)
    print(f"written: {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
