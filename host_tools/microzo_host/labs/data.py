"""Model and data of the labs: scikit-learn's digits, clean and in three other worlds."""

import pathlib

import numpy as np

from ..data import corruptions, datasets, demonet
from ..model import file as modelfile
from ..model import quantize

MODEL = "model.safetensors"
TRAIN, TEST = 256, 200  # samples, the same number of every digit but for some
SEED = 1
# What happens to the digits, and how much of it; see data/corruptions.py.
WORLDS = {"noise": 0.22, "fog": 0.4, "tilt": -28}
CORRUPTION = {"tilt": "rotate_fixed"}  # where a world has a simpler name
CALIBRATION = 512  # clean images
NAMES = [MODEL, "train_y.npy", "test_y.npy"] + [
    f"{world}_{part}_x.npy" for world in ("clean", *WORLDS) for part in ("train", "test")
]


def make(folder, train=TRAIN, test=TEST):
    """Writes model.safetensors, WORLD_train_x.npy, WORLD_test_x.npy for clean and the three
    worlds, and train_y.npy, test_y.npy, which are the same in all of them."""
    folder = pathlib.Path(folder)
    images, _ = datasets.load("digits", "pretrain")
    network = demonet.pretrained("digits")
    modelfile.write(folder / MODEL, quantize.quantize(network, images[:CALIBRATION]))
    for part, split, count, seed in (
        ("train", "adapt", train, SEED),
        ("test", "test", test, SEED + 1),
    ):
        images, labels = datasets.load("digits", split)
        index = datasets.draw_balanced(labels, count, seed)
        np.save(folder / f"{part}_y.npy", labels[index])
        np.save(folder / f"clean_{part}_x.npy", images[index])
        for world, level in WORLDS.items():
            name = CORRUPTION.get(world, world)
            changed = corruptions.apply_level(name, images[index], level, seed)
            np.save(folder / f"{world}_{part}_x.npy", changed)
