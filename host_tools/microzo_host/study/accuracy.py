"""What every recipe reaches on Fashion-MNIST under corruptions nobody tuned on (`make accuracy`).

256 labelled, class-balanced samples; 4,000 test images; the board's trainer over the host's C
kernels; back-propagation by PyTorch beside it where that is installed. One result is one small
file under build/accuracy/, named by what it depends on, so an interrupted study goes on where it
stopped. Writes build/accuracy.json: a list of {"corruption", "seed", "recipe", "zero_shot",
"accuracy", "bp"}, in per cent.
"""

import argparse
import dataclasses
import functools
import hashlib
import importlib.util
import json
import multiprocessing
import os
import pathlib
import sys
import tempfile

import numpy as np
import rich.progress

import microzo

from .. import bp, corruptions, datasets, modelfile, push, quantize
from . import networks, summary

RECIPES = ("realign", "head", "tail", "spsa", "forward_only", "default")
SEEDS = (0, 1, 2)
SAMPLES, TEST_IMAGES = 256, 4000
ADAPT_SEED, TEST_SEED = 1000, 500  # of the corruptions' random numbers
CLEAN = "clean"  # no corruption: only to see whether `default` does harm
BUILD = push.ROOT / "build"
# Recipes that are PyTorch on the host: bp.finetune's settings, and those a data set needs.
YARDSTICKS = {
    "bp": bp.YARDSTICK,
    "bp-bias-scale": {"mode": "bn", "adapt_statistics": True},
    "bp-head": {"mode": "head", "adapt_statistics": True},
    "bp-statistics": {"mode": "head", "adapt_statistics": True, "epochs": 0},
}
EFFORT = {"cifar10": {"epochs": 12, "rate": 4e-3, "weight_rate": 3e-4}}  # tuned on gauss


@dataclasses.dataclass(frozen=True)
class Job:
    """One training run and its test; recipe ``zero_shot`` trains nothing, ``bp`` is PyTorch."""

    corruption: str
    severity: int
    seed: int
    recipe: str
    test_images: int = TEST_IMAGES
    data: str = "fashion"
    samples: int = SAMPLES


def run(job):
    """Whether each test image is right after the job's training: bool (test_images,)."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    adapt, test = adaptation(job, job.samples), test_of(job)
    if job.recipe in YARDSTICKS:
        return _back_propagation(job, adapt, test)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model.safetensors")
        path.write_bytes(networks.model_bytes(job.data))
        model = microzo.load(str(path))
    if job.recipe != "zero_shot":
        trainer = microzo.Trainer(model, recipe=job.recipe, seed=job.seed)
        for _ in trainer.run(microzo.ArrayData(*map(_contiguous, adapt))):
            pass
    return predictions(model, test[0]) == test[1]


def predictions(model, images):
    """Class of every image."""
    return np.array([model.predict(image.tobytes()) for image in images])


def _back_propagation(job, adapt, test):
    import torch

    torch.set_num_threads(1)
    net = networks.float_net(job.data)
    tuned = bp.finetune(net, *adapt, seed=job.seed, **_effort(job))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "bp.safetensors")
        path.write_bytes(modelfile.pack(quantize.quantize(tuned, adapt[0])))
        return predictions(microzo.load(str(path)), test[0]) == test[1]


def _effort(job):
    return EFFORT.get(job.data, {}) | YARDSTICKS[job.recipe]


def _contiguous(array):
    return np.ascontiguousarray(array)


def adaptation(job, samples):
    """(images, labels) that a job trains on."""
    images, labels = datasets.load(job.data, "adapt")
    index = datasets.draw_balanced(labels, samples, job.seed)
    return _contiguous(_corrupt(job, images[index], ADAPT_SEED + job.seed)), labels[index]


@functools.lru_cache(maxsize=2)
def _test_of(data, corruption, severity, count):
    images, labels = (part[:count] for part in datasets.load(data, "test"))
    return _corrupt(Job(corruption, severity, 0, "", data=data), images, TEST_SEED), labels


def test_of(job):
    """(images, labels) that a job is tested on."""
    return _test_of(job.data, job.corruption, job.severity, job.test_images)


def _corrupt(job, images, seed):
    if job.corruption == CLEAN:
        return images
    return networks.shifts(job.data).apply(job.corruption, images, job.severity, seed)


def packed(right):
    """Hex text of a bool array."""
    return np.packbits(right).tobytes().hex()


def unpacked(text, count):
    """The bool array again."""
    return np.unpackbits(np.frombuffer(bytes.fromhex(text), np.uint8))[:count].astype(bool)


class Cache:
    """Results on disk, keyed by the job and by the code and weights it depends on."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def path(self, job):
        """File of a job's result."""
        effort = repr(_effort(job)) if job.recipe in YARDSTICKS else ""
        text = (repr(job) + effort).encode()
        key = hashlib.sha256(text + _sources(bool(effort), job.data)).hexdigest()
        return self.folder / f"{job.corruption}-{job.seed}-{job.recipe}-{key[:12]}.json"

    def get(self, job):
        """bool array or None."""
        path = self.path(job)
        if not path.is_file():
            return None
        return unpacked(json.loads(path.read_text())["right"], job.test_images)

    def put(self, job, right):
        """Keep a result."""
        path = self.path(job)
        temporary = path.with_suffix(".tmp")
        text = {**dataclasses.asdict(job), "right": packed(right)}
        temporary.write_text(json.dumps(text) + "\n")
        os.replace(temporary, path)


@functools.lru_cache(maxsize=4)
def _sources(is_bp, data):
    """Digest of what results depend on besides the job."""
    here = pathlib.Path(__file__).resolve().parents[1]
    names = ["corruptions", "exact", "datasets", "network", "quantize", "demonet"] + (
        ["bp", "torchnet"] if is_bp else []
    )
    if data == "cifar10":
        names += ["colour_corruptions", "shared_data"]
    files = [here / f"{name}.py" for name in names] + [networks.source(data)]
    # The oracle defines the arithmetic; kernels that are made faster give the same bits.
    files += sorted((here / "oracle").glob("*.py"))
    files += [] if is_bp else sorted(push.package_folder().glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).digest()


def jobs_for(settings, seeds, recipes, test_images, with_bp):
    """All jobs: zero-shot once per corruption, the rest per seed; default also on clean data."""
    made = []
    for corruption, severity in settings:
        made.append(Job(corruption, severity, 0, "zero_shot", test_images))
        for seed in seeds:
            names = [*recipes, *(["bp"] if with_bp else [])]
            made += [Job(corruption, severity, seed, name, test_images) for name in names]
    if "default" in recipes:
        made.append(Job(CLEAN, 1, 0, "zero_shot", test_images))
        made += [Job(CLEAN, 1, seed, "default", test_images) for seed in seeds]
    return made


def _run_and_keep(arguments):
    job, folder = arguments
    right = run(job)
    Cache(folder).put(job, right)
    return job, right


def side_by_side(function, arguments, processes):
    """Results of function(argument), in any order; one process: in this one."""
    if processes == 1 or not arguments:
        yield from map(function, arguments)
        return
    with multiprocessing.get_context("spawn").Pool(min(processes, len(arguments))) as pool:
        yield from pool.imap_unordered(function, arguments)


def collect(jobs, folder, processes):
    """{job: bool array}, from the cache or computed, with a progress bar."""
    cache = Cache(folder)
    done = {job: right for job in jobs if (right := cache.get(job)) is not None}
    missing = [job for job in jobs if job not in done]
    columns = (*rich.progress.Progress.get_default_columns(), rich.progress.MofNCompleteColumn())
    with rich.progress.Progress(*columns) as bars:
        task = bars.add_task("runs", total=len(jobs), completed=len(done))
        arguments = [(job, folder) for job in missing]
        for job, right in side_by_side(_run_and_keep, arguments, processes):
            done[job] = right
            bars.update(task, advance=1, description=f"{job.corruption} {job.recipe}")
    return done


def entries(results):
    """The list that accuracy.json holds."""
    zero = {j.corruption: r for j, r in results.items() if j.recipe == "zero_shot"}
    yard = {(j.corruption, j.seed): r for j, r in results.items() if j.recipe == "bp"}
    rows = []
    for job, right in results.items():
        if job.recipe in ("zero_shot", "bp") or job.corruption == CLEAN:
            continue
        beside = yard.get((job.corruption, job.seed))
        rows.append({
            "corruption": job.corruption,
            "seed": job.seed,
            "recipe": job.recipe,
            "zero_shot": _percent(zero[job.corruption]),
            "accuracy": _percent(right),
            "bp": None if beside is None else _percent(beside),
        })  # fmt: skip
    return sorted(rows, key=lambda r: (r["corruption"], r["seed"], r["recipe"]))


def _percent(right):
    return round(100 * float(right.mean()), 3)


def main(argv=None):
    """Run the study, write its file, print its summary; status 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="microzo_host.study.accuracy", description=__doc__)
    known = dict(corruptions.REPORTING)
    parser.add_argument("--corruptions", nargs="+", choices=list(known), default=list(known))
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    parser.add_argument("--recipes", nargs="+", choices=RECIPES, default=RECIPES)
    parser.add_argument("--test-images", type=int, default=TEST_IMAGES)
    parser.add_argument("--no-bp", action="store_true", help="leave back-propagation out")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--out", type=pathlib.Path, default=BUILD / "accuracy.json")
    args = parser.parse_args(argv)
    with_bp = not args.no_bp and importlib.util.find_spec("torch") is not None
    settings = [(name, known[name]) for name in args.corruptions]
    jobs = jobs_for(settings, args.seeds, args.recipes, args.test_images, with_bp)
    results = collect(jobs, args.out.with_suffix(""), args.jobs)
    rows = entries(results)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(rows, indent=0) + "\n")
    met = summary.show(rows, results, args.test_images)
    print(f"written: {args.out}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
