"""Runs of a recipe on one corruption with one seed: side by side, kept on disk, continued.

The board's trainer over the host's C kernels: a result is the board's, bit for bit.
"""

import dataclasses
import json
import zlib

import microzo

from ..plan import work
from . import cluster as clusters
from . import jobs, own, store
from .processes import DIED, side_by_side


@dataclasses.dataclass(frozen=True)
class Run(jobs.Job):
    """A job whose recipe is given as data: ``made`` is its JSON."""

    made: str = ""


def run_of(recipe, corruption, severity, seed, test_images, data, label="", own=None):
    """A Run of a recipe dict; own: an own.Own in place of a data set."""
    return Run(
        corruption, severity, seed, label or recipe["name"], test_images, data,
        recipe["samples"], own, made=json.dumps(recipe, sort_keys=True),
    )  # fmt: skip


def perform(run):
    """The run's fields with accuracy, forwards, macs, ram_bytes, outcomes, warnings and curve.

    ``right``: which test images are right, as store.unpacked() reads it; ``state_crc``: what
    the journal of the same run ends with; ``curve``: [stage, step, loss, accuracy] of every step,
    the last two of its own samples, or None.
    """
    model = jobs.model_of(run)
    trainer = microzo.Trainer(model, recipe=json.loads(run.made), seed=run.seed)
    samples = microzo.ArrayData(*jobs.adaptation(run, run.samples))
    n = min(run.samples, len(samples))
    ram = trainer.memory(n).total
    warnings, curve = set(), []
    for step in trainer.run(samples):
        warnings.add(step.warning)
        curve.append([step.stage, step.step, _rounded(step.loss), _rounded(step.accuracy)])
    right = jobs.right(run, model)
    return store.of(
        run,
        right,
        samples=n,
        accuracy=jobs.percent(right),
        state_crc=zlib.crc32(model.state) & 0x3FFFFFFF,
        forwards=work.forwards(model.plan, trainer.program),
        macs=work.macs(model.plan, trainer.program),
        ram_bytes=ram,
        outcomes=trainer.outcomes(),
        warnings=sorted(warnings - {""}),
        curve=curve,
    )


def collect(runs, folder, processes, advance=None, cluster=None):
    """{run: result}; what is on disk is not run again. advance(run): called for each new one.

    cluster: a cluster.Cluster or an address, whose workers do it, or None: `processes` here. The
    result of a run that failed is {"error": a sentence}; it is not kept, the others go on.
    """
    results = store.Store(folder)
    done = {run: result for run in runs if (result := results.get(run)) is not None}
    missing = [run for run in dict.fromkeys(runs) if run not in done]
    if cluster and missing:
        files = {}
        for one in {run.own for run in missing} - {None}:
            files.update(own.contents(one))
        performed = clusters.unordered(_performed, missing, cluster, _failed, files)
    else:
        performed = side_by_side(_performed, missing, processes, lambda run: _failed(run, DIED))
    for run, result in performed:
        if "error" not in result:
            results.put(run, result)
        done[run] = result
        if advance:
            advance(run)
    return done


def failures(results):
    """{sentence: number of runs that ended with it}."""
    errors = [result["error"] for result in results.values() if "error" in result]
    return {error: errors.count(error) for error in dict.fromkeys(errors)}


def zero_shot(shifts, test_images, data, folder, processes, own=None):
    """{(corruption, severity): accuracy of the untrained model in per cent}, kept on disk."""
    results = store.Store(folder)
    before = [jobs.Job(*shift, 0, jobs.ZERO_SHOT, test_images, data, own=own) for shift in shifts]
    missing = [job for job in before if results.get(job) is None]
    for job, result in side_by_side(_untrained, missing, processes):
        results.put(job, result)
    return {(j.corruption, j.severity): jobs.percent(results.right(j)) for j in before}


def _performed(run):
    try:
        return run, perform(run)
    except Exception as error:  # whatever it is, the other runs go on
        return _failed(run, str(error) or type(error).__name__)


def _failed(run, why):
    return run, {"error": why}


def _untrained(job):
    return job, store.of(job, jobs.right(job, jobs.model_of(job)))


def _rounded(value):
    return None if value is None else round(value, 5)
