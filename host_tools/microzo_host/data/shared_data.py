"""CIFAR-10 and keyword features for the study, from files that are no part of the product.

``cifar10``   the official archive (cifar-10-binary.tar.gz, cifar-10-python.tar.gz) or the .npz
              subset (train_x, train_y, test_x, test_y) that CIFAR10_FILE names; without it
              ``data/cifar10_subset.npz`` of the shared folder. Of the training images, in file
              order, the last of each class are "adapt" (a fifth of the archive's, 120 a class of
              the subset), the others "pretrain"; "test" is the first 2,000 test images.
``keywords``  ``data/kws_features.npz`` of the shared folder: 600 maps of 49x10 coefficients,
              int8 + 128 here. A class gives 8 to pretrain, 22 to adapt, the rest to test.

The shared folder is the one that MICROZO_SHARED names, or ``shared`` beside the project.
"""

import functools
import io
import os
import pathlib
import pickle
import tarfile

import numpy as np

PIXELS = 3 * 32 * 32
SUBSET_ADAPT = 120  # a class
KEYWORDS = (8, 22)  # a class: pretrain, adapt
TEST = 2000


def shared():
    """The folder with reference models and data."""
    beside = pathlib.Path(__file__).resolve().parents[4] / "shared"
    return pathlib.Path(os.environ.get("MICROZO_SHARED") or beside)


def cifar10(split):
    """(images uint8 Nx32x32x3, labels uint8 N)."""
    path = os.environ.get("CIFAR10_FILE") or str(shared() / "data" / "cifar10_subset.npz")
    train_x, train_y, test_x, test_y = _cifar(path)
    if split.startswith("test"):
        count = TEST if split == "test" else None
        return test_x[:count], test_y[:count]
    adapt = np.zeros(len(train_y), bool)
    for label in range(10):
        mine = np.flatnonzero(train_y == label)
        adapt[mine[-(len(mine) // 5 if len(train_y) > 10000 else SUBSET_ADAPT) :]] = True
    chosen = adapt if split == "adapt" else ~adapt
    return train_x[chosen], train_y[chosen]


def keywords(split):
    """(maps uint8 Nx49x10x1, labels uint8 N)."""
    found = _npz(shared() / "data" / "kws_features.npz", ("x", "y"))
    maps, labels = (found[0].astype(np.int16) + 128).astype(np.uint8), found[1]
    first, second = KEYWORDS[0], sum(KEYWORDS)
    part = {"pretrain": slice(0, first), "adapt": slice(first, second)}.get(
        split, slice(second, None)
    )
    index = [np.flatnonzero(labels == label)[part] for label in np.unique(labels)]
    index = np.sort(np.concatenate(index))
    return maps[index], labels[index]


@functools.lru_cache(maxsize=1)
def _cifar(path):
    if path.endswith(".npz"):
        return _npz(path, ("train_x", "train_y", "test_x", "test_y"))
    parts = {}
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                name = pathlib.PurePath(member.name).name
                if "_batch" in name and member.isfile():
                    parts[name.split(".")[0]] = _batch(archive.extractfile(member).read(), name)
    except (OSError, EOFError, tarfile.TarError):
        raise OSError(f"cannot read {path}: fetch CIFAR-10's archive again") from None
    wanted = [f"data_batch_{i}" for i in range(1, 6)]
    if any(name not in parts for name in (*wanted, "test_batch")):
        raise OSError(f"{path} has not the six batches of CIFAR-10: fetch the archive again")
    train = [np.concatenate(arrays) for arrays in zip(*(parts[n] for n in wanted), strict=True)]
    return *train, *parts["test_batch"]


def _batch(raw, name):
    """(images, labels) of one file of the binary or of the Python archive."""
    if name.endswith(".bin"):
        rows = np.frombuffer(raw, np.uint8).reshape(-1, 1 + PIXELS)
        labels, planes = rows[:, 0], rows[:, 1:]
    else:
        found = _Plain.loads(raw)
        labels, planes = np.array(found[b"labels"], np.uint8), found[b"data"]
    images = planes.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(images), labels.copy()


class _Plain(pickle.Unpickler):
    """Reads the pickles of the archive, which hold arrays and nothing else; runs no other code."""

    ALLOWED = {"_reconstruct", "ndarray", "dtype", "encode"}

    def find_class(self, module, name):
        if module.split(".")[0] not in ("numpy", "_codecs") or name not in self.ALLOWED:
            raise OSError(f"the archive holds {module}.{name}: it is not CIFAR-10's")
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)

    @classmethod
    def loads(cls, raw):
        return cls(io.BytesIO(raw), encoding="bytes").load()


def _npz(path, names):
    if not pathlib.Path(path).is_file():
        raise OSError(f"{path} is not there: set CIFAR10_FILE or MICROZO_SHARED")
    with np.load(path) as found:
        arrays = [found[name] for name in names]
    for array in arrays:
        array.flags.writeable = False
    return tuple(arrays)
