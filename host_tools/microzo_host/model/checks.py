"""Host-side checks of models and data before anything is sent or run; errors are sentences."""

import math
import os
import pathlib
import warnings

import numpy as np

from . import file as modelfile


def data(x_path, y_path, model=None):
    """(images uint8 NxHxWxC, labels uint8 N) of two .npy files that fit each other and a model."""
    x, y = array(x_path), array(y_path)
    if x.dtype != np.uint8 or x.ndim not in (3, 4):
        raise ValueError(
            f"{x_path} holds {x.dtype} of shape {x.shape}: samples are uint8, N x H x W [x C]"
        )
    if x.ndim == 3:
        x = x[..., None]
    if y.ndim != 1 or y.dtype.kind not in "iu":
        raise ValueError(f"{y_path} holds {y.dtype} of shape {y.shape}: labels are integers, N")
    if len(x) != len(y):
        raise ValueError(f"{x_path} has {len(x)} samples but {y_path} {len(y)} labels")
    if model is not None:
        fits(x_path, x, model)
        in_range(y_path, y, model.classes)
    return x, y.astype(np.uint8)


def array(path):
    """The array of a .npy file."""
    try:
        with open(path, "rb") as file:
            return _array(file, path)
    except FileNotFoundError:
        raise FileNotFoundError(f"{path} does not exist: give a .npy file") from None


def _array(file, path):
    """The array of an open file, which is as large as its header says before room is made."""
    try:
        version = np.lib.format.read_magic(file)
        header = {(1, 0): np.lib.format.read_array_header_1_0}.get(
            version, np.lib.format.read_array_header_2_0
        )
        with warnings.catch_warnings(action="ignore"):
            shape, fortran, dtype = header(file)
    except Exception:  # NumPy evaluates the header as Python: a damaged one raises anything
        raise ValueError(f"{path} is no .npy file of numbers: write it by numpy.save") from None
    count = math.prod(shape)
    if dtype.hasobject or dtype.itemsize == 0 or dtype.kind not in "biuf" or len(shape) > 32:
        raise ValueError(f"{path} is no .npy file of numbers: write it by numpy.save")
    left = os.fstat(file.fileno()).st_size - file.tell()
    if min(shape, default=0) < 0 or count * dtype.itemsize > left:
        raise ValueError(
            f"{path} is cut: its header says {_shape(shape)} of {dtype}, {left:,} bytes follow: "
            f"copy it again"
        )
    values = np.fromfile(file, dtype, count)
    return values.reshape(shape[::-1]).T if fortran else values.reshape(shape)


def fits(path, x, model):
    """Raise unless samples have the model's input shape."""
    wanted = (model.in_h, model.in_w, model.in_c)
    if tuple(x.shape[1:]) != wanted:
        raise ValueError(
            f"{path} has samples of {_shape(x.shape[1:])}, the model takes {_shape(wanted)}"
        )


def in_range(path, y, classes):
    """Raise unless every label is a class of the model."""
    if len(y) and not 0 <= int(y.min()) <= int(y.max()) < classes:
        worst = int(y.max()) if int(y.max()) >= classes else int(y.min())
        raise ValueError(
            f"{path} has label {worst}, the model's {classes} classes are 0 to {classes - 1}"
        )


def together(files):
    """Check files that go to a board with each other: models by themselves, data by the model.

    An array ``NAME_x.npy`` or ``x.npy`` is checked as samples, ``_y`` or ``y`` as labels.
    """
    models = [modelfile.read(f) for f in files if str(f).endswith(".safetensors")]
    for file in files:
        stem = pathlib.Path(file).stem
        if not models or pathlib.Path(file).suffix != ".npy" or stem[-1:] not in "xy":
            continue
        if stem in ("x", "y") or stem[-2] == "_":
            values = array(file)
            if stem[-1] == "y":
                in_range(file, values, models[0].classes)
            elif values.dtype != np.uint8:
                raise ValueError(f"{file} holds {values.dtype}, samples are uint8: convert them")
            else:
                fits(file, values[..., None] if values.ndim == 3 else values, models[0])


def _shape(shape):
    return "x".join(map(str, shape))
