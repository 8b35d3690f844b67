"""One run of the simulator: its samples, corrupted, and its test images."""

import dataclasses
import functools
import pathlib
import tempfile

import numpy as np

import microzo

from ..data import datasets
from . import networks
from . import own as owned

ADAPT_SEED, TEST_SEED = 1000, 500  # of the corruptions' random numbers
ZERO_SHOT = "zero_shot"  # no training


@dataclasses.dataclass(frozen=True)
class Job:
    """One training run and its test; recipe ``zero_shot`` trains nothing. own: the user's model
    and data, in place of those of a data set."""

    corruption: str
    severity: int
    seed: int
    recipe: str
    test_images: int = 4000
    data: str = "fashion"
    samples: int = 256
    # Not in the name of a result: store.py has its digest.
    own: owned.Own | None = dataclasses.field(default=None, repr=False)


def model_bytes(job):
    """The untrained model of a job as a file."""
    return networks.model_bytes(job.data) if job.own is None else job.own.model_bytes()


def model_of(job):
    """The untrained model of a job, loaded; it cannot be saved."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model.safetensors")
        path.write_bytes(model_bytes(job))
        return microzo.load(str(path))


def adaptation(job, samples):
    """(images, labels) that a job trains on: of a data set `samples` of them; of the user's own
    all, of which a run draws."""
    if job.own is not None:
        images, labels = job.own.adaptation()
        return _corrupt(job, images, ADAPT_SEED + job.seed), labels
    images, labels = datasets.load(job.data, "adapt")
    index = datasets.draw_balanced(labels, samples, job.seed)
    corrupted = _corrupt(job, images[index], ADAPT_SEED + job.seed)
    return np.ascontiguousarray(corrupted), labels[index]


def test_of(job):
    """(images, labels) that a job is tested on."""
    return _test_of(job.data, job.own, job.corruption, job.severity, job.test_images)


def right(job, model):
    """Whether the model is right on each of a job's test images: bool (test_images,)."""
    images, labels = test_of(job)
    return predictions(model, images) == labels


def predictions(model, images):
    """Class of every image."""
    return np.array([model.predict(image.tobytes()) for image in images])


def percent(right):
    """Per cent right, rounded as the files of results have it."""
    return round(100 * float(right.mean()), 3)


@functools.lru_cache(maxsize=2)
def _test_of(data, own, corruption, severity, count):
    if own is not None:
        images, labels = own.test_of(count)
    else:
        images, labels = (part[:count] for part in datasets.load(data, "test"))
    job = Job(corruption, severity, 0, "", data=data, own=own)
    return _corrupt(job, images, TEST_SEED), labels


def _corrupt(job, images, seed):
    if job.corruption == networks.CLEAN:
        return images
    return shifts_of(job.data, job.own).apply(job.corruption, images, job.severity, seed)


def shifts_of(data, own):
    """The module of corruptions, as networks.shifts has it."""
    return networks.shifts(data) if own is None else own.shifts()
