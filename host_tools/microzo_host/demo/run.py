"""The demo from its model to its verdict; `microzo demo --help` tells its options."""

import concurrent.futures
import dataclasses
import importlib.util
import json
import pathlib
import time

from .. import place
from ..board import emulator
from . import count, outcome, prepare, session
from .progress import Display

BUILD = place.output("demo")
RECIPES = ("default", "forward_only")
# Of forward_only a third of the recipe's steps: enough to see it work, and in time.
STEPS = {"default": None, "forward_only": 48}
QUICK = {"train": 64, "test": 100, "steps": 8}


@dataclasses.dataclass(frozen=True)
class Settings:
    """What to run: quick: few samples and steps, to test it; jobs: boards at once."""

    data: str
    corruptions: tuple = ()  # none: the usual ones of the data set
    quick: bool = False
    jobs: int = 2
    yardstick: bool = True
    out: pathlib.Path = BUILD

    def make_cases(self):
        """The corrupted samples, a prepare.Case each; ValueError for an unknown corruption."""
        usual = prepare.CORRUPTIONS[self.data]
        names = self.corruptions or tuple(usual)
        if unknown := [name for name in names if name not in usual]:
            raise ValueError(f"unknown corruption {unknown[0]!r}: choose from {', '.join(usual)}")
        sizes = {key: QUICK[key] for key in ("train", "test")} if self.quick else {}
        return [prepare.case(self.data, name, usual[name], self.out, **sizes) for name in names]


def train(case, recipe, model_path, settings, display):
    """One run on a board of its own."""
    steps = QUICK["steps"] if settings.quick else STEPS[recipe]
    with emulator.Board(fs=session.disk(model_path, case)) as board:
        return session.run(board, recipe, display.tell(case.name, recipe), steps)


def yardstick(case, net, settings):
    """Back-propagation's accuracy, or None without PyTorch or the laboratory that has it."""
    needed = ("torch", "microzo_lab")
    if not settings.yardstick or not all(map(importlib.util.find_spec, needed)):
        return None
    from microzo_lab import bp

    return round(bp.yardstick(net, case.train, case.test), 1)


def adapt(cases, net, model_path, settings, display):
    """All runs, as many at once as wanted; returns the outcomes, (stage, instructions a step)."""
    with display.running(), concurrent.futures.ThreadPoolExecutor(settings.jobs) as pool:
        try:
            disk = session.disk(model_path, cases[0])
            counted = pool.submit(count.instructions_per_step, disk)
            runs = {
                (case.name, recipe): pool.submit(
                    train, case, recipe, model_path, settings, display
                )
                for recipe in reversed(RECIPES)  # the slow ones first
                for case in cases
            }
            yards = {case.name: pool.submit(yardstick, case, net, settings) for case in cases}
            ended, _ = concurrent.futures.wait(
                [counted, *runs.values(), *yards.values()],
                return_when=concurrent.futures.FIRST_EXCEPTION,
            )
            for future in ended:
                future.result()  # raises what ended the others too soon
            outcomes = []
            for case in cases:
                done = {recipe: runs[case.name, recipe].result() for recipe in RECIPES}
                for one in done.values():
                    one.keep(case.folder)
                identical = outcome.replays(model_path, case, done.values())
                outcomes.append(
                    outcome.Outcome(case.name, done, identical, yards[case.name].result())
                )
            return outcomes, counted.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def run(settings):
    """Run the demo; returns sentences that say why it failed, none if it passed."""
    begun = time.monotonic()
    cases = settings.make_cases()
    display = Display()
    model_path, net, model = prepare.model(settings.data, settings.out)
    display.say(
        f"model: {model_path}, {model.weights:,} int8 weights, quantized from the pre-trained "
        f"float weights of {settings.data}"
    )
    display.say(
        f"data: {len(cases[0].train[1])} labelled and {len(cases[0].test[1])} test images for "
        f"each of {', '.join(case.name for case in cases)}"
    )
    display.say(
        "board: Cortex-M4F, 256 KB of RAM, stock MicroPython; its disk holds the files above"
    )
    outcomes, (stage, instructions) = adapt(cases, net, model_path, settings, display)
    result = outcome.result(outcomes, instructions)
    file = settings.out / "result.json"
    file.write_text(json.dumps(result, indent=1) + "\n")
    display.console.print(outcome.table(outcomes))
    for line in outcome.summary(outcomes, result, stage):
        display.say(line)
    display.say(f"written: {file} ({time.monotonic() - begun:.0f} s)")
    display.say(f"look at a run: microzo report {cases[0].folder}")
    return list(outcome.problems(result))
