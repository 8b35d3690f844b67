"""A model and data of the user's own, .safetensors and .npy files, for runs of the simulator."""

import dataclasses
import functools
import hashlib
import io
import pathlib

import numpy as np

from ..data import colour_corruptions, corruptions
from ..model import checks
from ..model import file as modelfile

_HELD = {}  # path: bytes, on a worker that has no such files


@dataclasses.dataclass(frozen=True)
class Own:
    """Paths of a model, of (samples, labels) for training and of those for the test; shape: of
    a sample, (rows, columns, channels); digest: of all the files, so that changed ones are new
    runs."""

    model: str
    train: tuple
    test: tuple
    shape: tuple
    digest: str

    @property
    def paths(self):
        return (self.model, *self.train, *self.test)

    def model_bytes(self):
        return _files(self)[0]

    def adaptation(self):
        """(samples uint8 N x H x W x C, labels uint8 N): all of them, a run draws its own."""
        return _files(self)[1:3]

    def test_of(self, count):
        """(samples, labels): the first `count` of the test."""
        x, y = _files(self)[3:]
        return x[:count], y[:count]

    def shifts(self):
        """The module of corruptions that samples of this shape can have."""
        rows, columns, channels = self.shape
        if channels not in (1, 3) or rows < 8 or columns < 8:
            raise ValueError(
                f"corruptions are for images of 1 or 3 channels, samples here are "
                f"{rows} x {columns} x {channels}: leave out -c, and give data that have changed"
            )
        return colour_corruptions if channels == 3 else corruptions


def of(model, train, test, folder=None):
    """The Own of files; ValueError in a sentence if they do not fit each other.

    train, test: (samples, labels), paths of .npy files, or arrays, which are then kept as files in
    `folder`.
    """
    loaded = modelfile.read(model)
    pairs = []
    for name, pair in (("train", train), ("test", test)):
        if pair is None or isinstance(pair, str) or len(pair) != 2:
            raise ValueError(f"{name} is two things, samples and labels: x.npy y.npy")
        pair = tuple(_as_path(part, folder) for part in pair)
        checks.data(*pair, loaded)
        pairs.append(pair)
    paths = (str(model), *pairs[0], *pairs[1])
    shape = loaded.in_h, loaded.in_w, loaded.in_c
    contents = [pathlib.Path(path).read_bytes() for path in paths]
    return Own(paths[0], *pairs, shape, _digest(contents))


def contents(own):
    """{path: bytes}: what a worker elsewhere must `hold`."""
    return {path: pathlib.Path(path).read_bytes() for path in own.paths}


def hold(files):
    """Takes the bytes of files in place of those of this computer."""
    _HELD.update(files)


def _as_path(part, folder):
    if isinstance(part, str | pathlib.Path):
        return str(part)
    array = np.ascontiguousarray(part)
    digest = hashlib.sha256(repr((array.shape, array.dtype)).encode() + array.tobytes())
    path = pathlib.Path(folder, f"array-{digest.hexdigest()[:16]}.npy")
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, array)
    return str(path)


def _digest(contents):
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in contents)).hexdigest()


@functools.lru_cache(maxsize=2)
def _files(own):
    """(bytes of the model, samples, labels, samples, labels), what they were when `of` read
    them."""
    contents = [_HELD.get(p) or pathlib.Path(p).read_bytes() for p in own.paths]
    if _digest(contents) != own.digest:
        raise ValueError(f"{own.model} or its data changed while runs go on: start again")
    arrays = [np.load(io.BytesIO(part), allow_pickle=False) for part in contents[1:]]
    x, y, test_x, test_y = arrays
    return (
        contents[0],
        np.ascontiguousarray(x.reshape(-1, *own.shape)),
        y.astype(np.uint8),
        np.ascontiguousarray(test_x.reshape(-1, *own.shape)),
        test_y.astype(np.uint8),
    )
