"""The handwritten digits inside scikit-learn: 1,797 images of 8 x 8, made 16 x 16 here.

Read from the packaged csv.gz without importing scikit-learn. Per class, in the order of
``PCG64(SPLIT_SEED)``: 100 pretrain, 30 adapt, the rest (44 to 53) test.
"""

import functools
import gzip
import importlib.util
import pathlib

import numpy as np

SPLIT_SEED = 20261201
PER_CLASS = (100, 30)  # pretrain, adapt; the rest is for test
SMALL, LEVELS = 8, 16  # pixels of a side in the file, grey values above black


def digits(split):
    """(images uint8 Nx16x16x1, labels uint8 N) of a split."""
    images, labels = _all()
    index = _split()["test" if split == "test_full" else split]
    return images[index], labels[index]


def enlarge(images):
    """Twice as many rows and columns, linear between the pixels: N x 2n x 2m of 16 times the
    values, exact integers."""
    for axis in (1, 2):
        edge = [(0, 0)] * 3
        edge[axis] = (1, 1)
        padded = np.moveaxis(np.pad(images, edge, "edge"), axis, 0)
        inside, before, after = padded[1:-1], padded[:-2], padded[2:]
        both = np.stack([3 * inside + before, 3 * inside + after], 1)
        images = np.moveaxis(both.reshape(-1, *both.shape[2:]), 0, axis)
    return images


@functools.lru_cache(maxsize=1)
def _all():
    spec = importlib.util.find_spec("sklearn")
    if spec is None or not spec.submodule_search_locations:
        raise OSError(
            "the digits come inside scikit-learn, which is not installed: "
            "run `pip install scikit-learn`"
        )
    path = pathlib.Path(spec.submodule_search_locations[0], "datasets", "data", "digits.csv.gz")
    try:
        with gzip.open(path, "rt") as file:
            rows = np.loadtxt(file, delimiter=",").astype(np.int64)
    except (OSError, EOFError, ValueError):
        raise OSError(f"cannot read {path}: reinstall scikit-learn") from None
    if rows.shape != (1797, SMALL * SMALL + 1):
        raise OSError(f"{path} holds {rows.shape} values, not 1797x65: reinstall scikit-learn")
    large = enlarge(rows[:, :-1].reshape(-1, SMALL, SMALL))
    white = 16 * LEVELS
    images = ((large * 255 + white // 2) // white).astype(np.uint8)[..., None]
    labels = rows[:, -1].astype(np.uint8)
    images.flags.writeable = labels.flags.writeable = False
    return images, labels


@functools.lru_cache(maxsize=1)
def _split():
    labels = _all()[1]
    rng = np.random.Generator(np.random.PCG64(SPLIT_SEED))
    parts = ([], [], [])
    for label in range(10):
        shuffled = rng.permutation(np.flatnonzero(labels == label))
        for part, chunk in zip(parts, np.split(shuffled, np.cumsum(PER_CLASS)), strict=True):
            part.append(chunk)
    index = [rng.permutation(np.concatenate(part)) for part in parts]
    return dict(zip(("pretrain", "adapt", "test"), index, strict=True))
