"""Runs of a recipe on one corruption with one seed: side by side, kept on disk, continued.

The board's trainer over the host's C kernels: a result is the board's, bit for bit.
"""

import dataclasses
import json
import multiprocessing
import zlib

import microzo

from ..plan import work
from . import cluster, jobs, store


@dataclasses.dataclass(frozen=True)
class Run(jobs.Job):
    """A job whose recipe is given as data: ``made`` is its JSON."""

    made: str = ""


def run_of(recipe, corruption, severity, seed, test_images, data, label=""):
    """A Run of a recipe dict."""
    made = json.dumps(recipe, sort_keys=True)
    return Run(
        corruption, severity, seed, label or recipe["name"], test_images, data,
        recipe["samples"], made,
    )  # fmt: skip


def perform(run):
    """The run's fields with accuracy, forwards, macs, ram_bytes, outcomes and warnings.

    ``right``: which test images are right, as store.unpacked() reads it; ``state_crc``: what
    the journal of the same run ends with.
    """
    model = jobs.model_of(run)
    trainer = microzo.Trainer(model, recipe=json.loads(run.made), seed=run.seed)
    ram = trainer.memory(run.samples).total
    warnings = set()
    for step in trainer.run(microzo.ArrayData(*jobs.adaptation(run, run.samples))):
        warnings.add(step.warning)
    right = jobs.right(run, model)
    return store.of(
        run,
        right,
        accuracy=jobs.percent(right),
        state_crc=zlib.crc32(model.state) & 0x3FFFFFFF,
        forwards=work.forwards(model.plan, trainer.program),
        macs=work.macs(model.plan, trainer.program),
        ram_bytes=ram,
        outcomes=trainer.outcomes(),
        warnings=sorted(warnings - {""}),
    )


def collect(runs, folder, processes, advance=None, scheduler=""):
    """{run: result}; what is on disk is not run again. advance(run): called for each new one.

    scheduler: address of a Dask scheduler whose workers do it, or "": `processes` here.
    """
    results = store.Store(folder)
    done = {run: result for run in runs if (result := results.get(run)) is not None}
    missing = [run for run in dict.fromkeys(runs) if run not in done]
    if scheduler:
        performed = cluster.unordered(_performed, missing, scheduler)
    else:
        performed = side_by_side(_performed, missing, processes)
    for run, result in performed:
        results.put(run, result)
        done[run] = result
        if advance:
            advance(run)
    return done


def zero_shot(shifts, test_images, data, folder, processes):
    """{(corruption, severity): accuracy of the untrained model in per cent}, kept on disk."""
    results = store.Store(folder)
    before = [jobs.Job(*shift, 0, jobs.ZERO_SHOT, test_images, data) for shift in shifts]
    missing = [job for job in before if results.get(job) is None]
    for job, result in side_by_side(_untrained, missing, processes):
        results.put(job, result)
    return {(j.corruption, j.severity): jobs.percent(results.right(j)) for j in before}


def side_by_side(function, arguments, processes):
    """Results of function(argument), in any order; one process: in this one."""
    if processes == 1 or not arguments:
        yield from map(function, arguments)
        return
    with multiprocessing.get_context("spawn").Pool(min(processes, len(arguments))) as pool:
        yield from pool.imap_unordered(function, arguments)


def _performed(run):
    return run, perform(run)


def _untrained(job):
    return job, store.of(job, jobs.right(job, jobs.model_of(job)))
