"""Command line of the demo; see `python -m microzo_host.demo --help`."""

import argparse
import concurrent.futures
import importlib.util
import json
import os
import pathlib
import sys
import time

from .. import bp, datasets, emulator, push
from . import count, outcome, prepare, session
from .progress import Display

BUILD = push.ROOT / "build" / "demo"
RECIPES = ("default", "forward_only")
# Of forward_only a third of the recipe's steps: enough to see it work, and in time.
STEPS = {"default": None, "forward_only": 48}
QUICK = {"train": 64, "test": 100, "steps": 8}


def arguments(argv):
    """The parsed command line."""
    parser = argparse.ArgumentParser(
        prog="microzo_host.demo", description="Adapts a network on an emulated 256-KB board."
    )
    data = os.environ.get("DATA") or "mnist"
    parser.add_argument("--data", choices=datasets.NAMES, default=data)
    parser.add_argument("--corruptions", nargs="+", metavar="NAME", help="some of the usual three")
    parser.add_argument("--quick", action="store_true", help="few samples and steps, to test it")
    parser.add_argument(
        "--jobs", type=int, default=min(2, os.cpu_count() or 1), help="boards at once"
    )
    parser.add_argument("--no-bp", action="store_true", help="leave back-propagation out")
    parser.add_argument(
        "--out", type=pathlib.Path, default=BUILD, help="folder, default build/demo"
    )
    args = parser.parse_args(argv)
    usual = prepare.CORRUPTIONS[args.data]
    args.corruptions = args.corruptions or list(usual)
    if unknown := set(args.corruptions) - set(usual):
        parser.error(f"unknown corruption {unknown.pop()!r}: choose from {', '.join(usual)}")
    return args


def train(case, recipe, model_path, args, display):
    """One run on a board of its own."""
    steps = QUICK["steps"] if args.quick else STEPS[recipe]
    with emulator.Board(fs=session.disk(model_path, case)) as board:
        return session.run(board, recipe, display.tell(case.name, recipe), steps)


def yardstick(case, net, args):
    """Back-propagation's accuracy, or None without PyTorch."""
    if args.no_bp or not importlib.util.find_spec("torch"):
        return None
    return round(bp.yardstick(net, case.train, case.test), 1)


def adapt(cases, net, model_path, args, display):
    """All runs, as many at once as wanted; returns the outcomes, (stage, instructions a step)."""
    with display.running(), concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        try:
            counted = pool.submit(count.instructions_per_step, session.disk(model_path, cases[0]))
            runs = {
                (case.name, recipe): pool.submit(train, case, recipe, model_path, args, display)
                for recipe in reversed(RECIPES)  # the slow ones first
                for case in cases
            }
            yards = {case.name: pool.submit(yardstick, case, net, args) for case in cases}
            concurrent.futures.wait(
                [counted, *runs.values(), *yards.values()],
                return_when=concurrent.futures.FIRST_EXCEPTION,
            )
            outcomes = []
            for case in cases:
                done = {recipe: runs[case.name, recipe].result(0) for recipe in RECIPES}
                identical = outcome.replays(model_path, case, done.values())
                outcomes.append(
                    outcome.Outcome(case.name, done, identical, yards[case.name].result())
                )
            return outcomes, counted.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def main(argv=None):
    """Run the demo; returns the exit status."""
    args = arguments(argv)
    begun = time.monotonic()
    display = Display()
    model_path, net, model = prepare.model(args.data, args.out)
    display.say(
        f"model: {model_path}, {model.weights:,} int8 weights, quantized from the pre-trained "
        f"float weights of {args.data}"
    )
    sizes = {key: QUICK[key] for key in ("train", "test")} if args.quick else {}
    cases = [
        prepare.case(args.data, name, prepare.CORRUPTIONS[args.data][name], args.out, **sizes)
        for name in args.corruptions
    ]
    display.say(
        f"data: {len(cases[0].train[1])} labelled and {len(cases[0].test[1])} test images for "
        f"each of {', '.join(args.corruptions)}"
    )
    display.say(
        "board: Cortex-M4F, 256 KB of RAM, stock MicroPython; its disk holds the files above"
    )
    outcomes, (stage, instructions) = adapt(cases, net, model_path, args, display)
    found = outcome.result(outcomes, instructions)
    (args.out / "result.json").write_text(json.dumps(found, indent=1) + "\n")
    display.console.print(outcome.table(outcomes))
    for line in outcome.summary(outcomes, found, stage):
        display.say(line)
    display.say(f"written: {args.out / 'result.json'} ({time.monotonic() - begun:.0f} s)")
    failures = list(outcome.problems(found))
    for failure in failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError) as error:
        sys.exit(f"demo: {error}")
