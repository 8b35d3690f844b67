"""Model and data of the demo, made by the same host tools that a user has."""

import dataclasses
import pathlib

import numpy as np

from ..data import corruptions, datasets, demonet
from ..model import file as modelfile
from ..model import quantize

CALIBRATION = 512  # clean images
TRAIN, TEST = 256, 500
SEED = 1
# Three cameras: one is noisy, one is fogged up, one is loose or was mounted askew.
CORRUPTIONS = {
    "mnist": {"noise": 5, "fog": 5, "translate": 5},
    "fashion": {"noise": 3, "fog": 3, "rotate_fixed": 3},
}


@dataclasses.dataclass
class Case:
    """One corruption: arrays for training and test, and the same as .npy files."""

    name: str
    train: tuple
    test: tuple
    folder: pathlib.Path

    @property
    def files(self):
        """{name on the board: host file}."""
        names = [f"{part}_{axis}.npy" for part in ("train", "test") for axis in "xy"]
        return {name: self.folder / name for name in names}


def model(data, folder):
    """Quantize the pre-trained network of a data set; returns (path, float network, Model)."""
    net = demonet.pretrained(data)
    images, _ = datasets.load(data, "pretrain")
    quantized = quantize.quantize(net, images[:CALIBRATION])
    path = pathlib.Path(folder, "model.safetensors")
    path.parent.mkdir(parents=True, exist_ok=True)
    modelfile.write(path, quantized)
    return path, net, quantized


def case(data, name, severity, folder, train=TRAIN, test=TEST):
    """Draw balanced samples from the disjoint splits, corrupt them, write the .npy files."""
    folder = pathlib.Path(folder, name)
    folder.mkdir(parents=True, exist_ok=True)
    parts = {}
    for part, split, count, seed in (
        ("train", "adapt", train, SEED),
        ("test", "test", test, SEED + 1),
    ):
        images, labels = datasets.load(data, split)
        index = datasets.draw_balanced(labels, count, seed)
        parts[part] = corruptions.apply(name, images[index], severity, seed), labels[index]
        for axis, array in zip("xy", parts[part], strict=True):
            np.save(folder / f"{part}_{axis}.npy", array)
    return Case(name, parts["train"], parts["test"], folder)
