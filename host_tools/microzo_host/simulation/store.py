"""Results of jobs on disk: one small JSON file a job, so that an interrupted study goes on."""

import dataclasses
import functools
import hashlib
import json
import os
import pathlib

import numpy as np

from ..board import push
from . import networks

HERE = pathlib.Path(__file__).resolve().parents[1]
FORMAT = b"with curves"  # of a result


class Store:
    """A folder of results, named by the job and by the code and weights that it depends on."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def path(self, job):
        """File of a job's result."""
        key = hashlib.sha256(repr(job).encode() + self.depends_on(job)).hexdigest()
        return self.folder / f"{job.corruption}-{job.seed}-{job.recipe}-{key[:12]}.json"

    def depends_on(self, job):
        """Digest of what a result depends on besides the job."""
        if job.own is not None:
            return own_sources() + job.own.digest.encode() + device() + FORMAT
        return sources(job.data) + device() + FORMAT

    def get(self, job):
        """The result, a dict, or None."""
        path = self.path(job)
        return json.loads(path.read_text()) if path.is_file() else None

    def right(self, job):
        """Which test images are right, a bool array, or None."""
        result = self.get(job)
        return None if result is None else unpacked(result["right"], job.test_images)

    def put(self, job, result):
        """Write a result, whole or not at all."""
        path = self.path(job)
        temporary = path.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps(result) + "\n")
        temporary.replace(path)


def of(job, right, **more):
    """The result of a job: its fields, which test images are right, and more."""
    fields = {f.name: getattr(job, f.name) for f in dataclasses.fields(job) if f.name != "own"}
    return {**fields, **more, "right": packed(right)}


def packed(right):
    """Hex text of a bool array."""
    return np.packbits(right).tobytes().hex()


def unpacked(text, count):
    """The bool array again."""
    return np.unpackbits(np.frombuffer(bytes.fromhex(text), np.uint8))[:count].astype(bool)


def digest(files):
    """Digest of the content of files."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).digest()


@functools.lru_cache(maxsize=4)
def sources(data):
    """Digest of what makes the model and the samples of a data set."""
    names = ["data/corruptions", "data/datasets", "model/quantize", "data/demonet"]
    if data == "cifar10":
        names += ["data/colour_corruptions", "data/shared_data"]
    files = [HERE / f"{name}.py" for name in names] + [networks.source(data)]
    # The oracle defines the arithmetic; kernels that are made faster give the same bits.
    return digest([*files, *sorted((HERE / "reference").glob("*.py"))])


@functools.lru_cache(maxsize=1)
def own_sources():
    """Digest of what changes the user's own samples."""
    return digest([HERE / f"data/{name}.py" for name in ("corruptions", "colour_corruptions")])


@functools.lru_cache(maxsize=1)
def device():
    """Digest of the package that trains."""
    return digest(sorted(push.package_folder().rglob("*.py")))
