"""What every recipe reaches on Fashion-MNIST under corruptions nobody tuned on (`make accuracy`).

256 labelled, class-balanced samples; 4,000 test images; the board's trainer over the host's C
kernels; back-propagation by PyTorch beside it where that is installed. One result is one small
file under build/accuracy/, named by what it depends on, so an interrupted study goes on where it
stopped. Writes build/accuracy.json: a list of {"corruption", "seed", "recipe", "zero_shot",
"accuracy", "bp"}, in per cent.
"""

import importlib.util
import json
import os
import pathlib
import sys
import tempfile

import click
import rich.progress

import microzo
from microzo_host.board import push
from microzo_host.cli.group import SeveralValues
from microzo_host.data import corruptions
from microzo_host.model import file as modelfile
from microzo_host.model import quantize
from microzo_host.simulation import jobs, store
from microzo_host.simulation.jobs import ZERO_SHOT, Job
from microzo_host.simulation.networks import CLEAN
from microzo_host.simulation.processes import side_by_side

from . import bp, floatnet, summary

RECIPES = ("realign", "head", "tail", "spsa", "forward_only", "default")
SEEDS = (0, 1, 2)
KNOWN = dict(corruptions.REPORTING)
BUILD = push.ROOT / "build"
# Recipes that are PyTorch on the host: bp.finetune's settings, and those a data set needs.
YARDSTICKS = {
    "bp": bp.YARDSTICK,
    "bp-bias-scale": {"mode": "bn", "adapt_statistics": True},
    "bp-head": {"mode": "head", "adapt_statistics": True},
    "bp-statistics": {"mode": "head", "adapt_statistics": True, "epochs": 0},
}
EFFORT = {"cifar10": {"epochs": 12, "rate": 4e-3, "weight_rate": 3e-4}}  # tuned on gauss


def run(job):
    """Whether each test image is right after the job's training: bool (test_images,)."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    adapt = jobs.adaptation(job, job.samples)
    if job.recipe in YARDSTICKS:
        return _back_propagation(job, adapt)
    model = jobs.model_of(job)
    if job.recipe != ZERO_SHOT:
        trainer = microzo.Trainer(model, recipe=job.recipe, seed=job.seed)
        for _ in trainer.run(microzo.ArrayData(*adapt)):
            pass
    return jobs.right(job, model)


def _back_propagation(job, adapt):
    import torch

    torch.set_num_threads(1)
    net = floatnet.of_data(job.data)
    tuned = bp.finetune(net, *adapt, seed=job.seed, **_effort(job))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "bp.safetensors")
        path.write_bytes(modelfile.pack(quantize.quantize(tuned, adapt[0])))
        return jobs.right(job, microzo.load(str(path)))


def _effort(job):
    return EFFORT.get(job.data, {}) | YARDSTICKS[job.recipe]


class Results(store.Store):
    """Results of jobs whose recipe may be a yardstick, which depends on other code."""

    def depends_on(self, job):
        """Digest of what a result depends on besides the job."""
        if job.recipe not in YARDSTICKS:
            return super().depends_on(job)
        here = pathlib.Path(__file__).resolve().parent
        files = [here / "bp.py", here / "torchnet.py"]
        return repr(_effort(job)).encode() + store.sources(job.data) + store.digest(files)


def jobs_for(settings, seeds, recipes, test_images, with_bp):
    """All jobs: zero-shot once per corruption, the rest per seed; default also on clean data."""
    made = []
    for corruption, severity in settings:
        made.append(Job(corruption, severity, 0, ZERO_SHOT, test_images))
        for seed in seeds:
            names = [*recipes, *(["bp"] if with_bp else [])]
            made += [Job(corruption, severity, seed, name, test_images) for name in names]
    if "default" in recipes:
        made.append(Job(CLEAN, 1, 0, ZERO_SHOT, test_images))
        made += [Job(CLEAN, 1, seed, "default", test_images) for seed in seeds]
    return made


def _run_and_keep(arguments):
    job, folder = arguments
    right = run(job)
    Results(folder).put(job, store.of(job, right))
    return job, right


def collect(wanted, folder, processes):
    """{job: bool array}, from the folder or computed, with a progress bar."""
    results = Results(folder)
    done = {job: right for job in wanted if (right := results.right(job)) is not None}
    missing = [job for job in wanted if job not in done]
    columns = (*rich.progress.Progress.get_default_columns(), rich.progress.MofNCompleteColumn())
    with rich.progress.Progress(*columns) as bars:
        task = bars.add_task("runs", total=len(wanted), completed=len(done))
        arguments = [(job, folder) for job in missing]
        for job, right in side_by_side(_run_and_keep, arguments, processes):
            done[job] = right
            bars.update(task, advance=1, description=f"{job.corruption} {job.recipe}")
    return done


def entries(results):
    """The list that accuracy.json holds."""
    zero = {j.corruption: r for j, r in results.items() if j.recipe == ZERO_SHOT}
    yard = {(j.corruption, j.seed): r for j, r in results.items() if j.recipe == "bp"}
    rows = []
    for job, right in results.items():
        if job.recipe in (ZERO_SHOT, "bp") or job.corruption == CLEAN:
            continue
        beside = yard.get((job.corruption, job.seed))
        rows.append({
            "corruption": job.corruption,
            "seed": job.seed,
            "recipe": job.recipe,
            "zero_shot": jobs.percent(zero[job.corruption]),
            "accuracy": jobs.percent(right),
            "bp": None if beside is None else jobs.percent(beside),
        })  # fmt: skip
    return sorted(rows, key=lambda r: (r["corruption"], r["seed"], r["recipe"]))


@click.command("accuracy", cls=SeveralValues)
@click.option("--corruptions", "names", multiple=True, type=click.Choice(list(KNOWN)),
              default=tuple(KNOWN), help="Some of those that are reported.")  # fmt: skip
@click.option("--seeds", multiple=True, type=int, default=SEEDS, show_default=True)
@click.option("--recipes", multiple=True, type=click.Choice(RECIPES), default=RECIPES)
@click.option("--test-images", type=int, default=Job.test_images, show_default=True)
@click.option("--no-bp", is_flag=True, help="Leave back-propagation out.")
@click.option("--jobs", "processes", type=int, default=min(2, os.cpu_count() or 1),
              show_default=True, help="Runs at a time.")  # fmt: skip
@click.option("--out", type=click.Path(dir_okay=False, path_type=pathlib.Path),
              default=BUILD / "accuracy.json")  # fmt: skip
def command(names, seeds, recipes, test_images, no_bp, processes, out):
    """What every recipe reaches on Fashion-MNIST; status 1 if a target is missed."""
    with_bp = not no_bp and importlib.util.find_spec("torch") is not None
    settings = [(name, KNOWN[name]) for name in names]
    wanted = jobs_for(settings, seeds, recipes, test_images, with_bp)
    results = collect(wanted, out.with_suffix(""), processes)
    rows = entries(results)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(rows, indent=0) + "\n")
    met = summary.show(rows, results, test_images)
    click.echo(f"written: {out}")
    sys.exit(0 if met else 1)
