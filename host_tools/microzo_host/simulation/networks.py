"""Which network, corruptions and calibration images belong to a data set.

``mnist``, ``fashion`` and ``digits``: the demo network. ``cifar10``: MLPerf Tiny's ResNet-8,
``keywords``: its DS-CNN, imported from the .tflite files of a folder ``shared`` beside the project
(or the one that MICROZO_SHARED names). Both are optional; without the folder `there` says so.
"""

import functools
import hashlib
import os
import pathlib

from .. import importers
from ..data import colour_corruptions, corruptions, datasets, demonet, shared_data
from ..model import file as modelfile
from ..model import quantize

NAMES = {
    "mnist": "demo",
    "fashion": "demo",
    "digits": "demo",
    "cifar10": "resnet8",
    "keywords": "ds-cnn",
}
FILES = {"cifar10": "resnet8_cifar10_int8.tflite", "keywords": "kws_int8.tflite"}
# Mild ones: the maps' values lie close together, so that noise of any level ends at chance.
KEYWORD_SHIFTS = (("contrast", 5), ("brightness", 2), ("stripe", 1))
CLEAN = "clean"  # no corruption: only to see whether a recipe does harm
CALIBRATION = 512  # clean images of the pre-training split


def source(data):
    """The file the network of a data set comes from."""
    if data in FILES:
        return shared_data.shared() / "models" / FILES[data]
    return demonet.ASSETS / f"{data}.safetensors"


def missing(data):
    """Why a data set cannot be used here, or ""."""
    try:
        datasets.load(data, "adapt")
    except OSError as error:
        return str(error)
    return "" if source(data).is_file() else f"{source(data)} is not there"


def shifts(data):
    """The module with ``apply``, NAMES, TUNING and REPORTING for a data set."""
    return colour_corruptions if data == "cifar10" else corruptions


def shift(text, module):
    """(corruption, severity) of NAME or NAME:SEVERITY; module: of shifts()."""
    name, _, severity = text.partition(":")
    if name == CLEAN:
        return CLEAN, 0
    known = module.NAMES
    if name not in known:
        raise ValueError(f"unknown corruption {name!r}: choose one of {', '.join(known)}")
    if severity not in ("", *"12345"):
        raise ValueError(f"severity {severity!r} does not exist: choose 1 to 5")
    return name, int(severity or 3)


def reporting(data):
    """(name, severity) of the corruptions that are reported."""
    return KEYWORD_SHIFTS if data == "keywords" else shifts(data).REPORTING


@functools.lru_cache(maxsize=2)
def model_bytes(data):
    """The network of a data set as a model file, with clean statistics for realign."""
    images = datasets.load(data, "pretrain")[0][:CALIBRATION]
    if data not in FILES:
        return modelfile.pack(quantize.quantize(demonet.pretrained(data), images))
    digest = hashlib.sha256(source(data).read_bytes() + images.tobytes())
    for part in ("importers/*.py", "model/*.py", "reference/*.py"):
        for path in sorted(pathlib.Path(importers.__file__).parents[1].glob(part)):
            digest.update(path.read_bytes())
    kept = _folder() / f"{data}-{digest.hexdigest()[:12]}.safetensors"
    if not kept.is_file():  # half a minute
        kept.parent.mkdir(parents=True, exist_ok=True)
        temporary = kept.with_suffix(f".{os.getpid()}")
        temporary.write_bytes(modelfile.pack(importers.import_model(source(data), images)))
        temporary.replace(kept)
    return kept.read_bytes()


def _folder():
    return pathlib.Path(__file__).resolve().parents[3] / "build" / "study" / "networks"
