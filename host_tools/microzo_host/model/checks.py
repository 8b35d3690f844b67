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
    if x.dtype != np.uint8 or x.ndim not in (2, 3, 4):
        raise ValueError(
            f"{x_path} holds {x.dtype} of shape {x.shape}: samples are uint8, N x H x W [x C]; "
            "`microzo encode` makes them, or " + (_kind_cure(x) or "reshape them")
        )
    if y.ndim != 1 or y.dtype.kind not in "iu":
        cure = "y.argmax(axis=1) of one column a class" if y.ndim == 2 else "y.astype('uint8')"
        raise ValueError(
            f"{y_path} holds {y.dtype} of shape {y.shape}: labels are integers, N: save {cure}"
        )
    if len(x) != len(y):
        raise ValueError(f"{x_path} has {len(x)} samples but {y_path} {len(y)} labels")
    if model is not None:
        x = fits(x_path, x, model)
        in_range(y_path, y, model.classes)
    elif x.ndim < 4:
        x = x[..., None] if x.ndim == 3 else x[:, None, None]
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
    """Samples as (number, h, w, c); ValueError unless they have the model's shape.

    Axes of one value may be missing; an order of axes is never guessed from a size.
    """
    ours = model.in_h, model.in_w, model.in_c
    if [n for n in x.shape[1:] if n > 1] != [n for n in ours if n > 1]:
        theirs = (*x.shape[1:], 1) if x.ndim == 3 else x.shape[1:]
        raise ValueError(
            f"{path} has samples of {_shape(theirs)}, the model takes {_shape(ours)} (rows, "
            f"columns, channels): `microzo encode` puts axes in order; "
            + _shape_cure(tuple(x.shape[1:]), ours)
        )
    return x.reshape(-1, *ours)


def in_range(path, y, classes):
    """Raise unless every label is a class of the model."""
    if len(y) and not 0 <= int(y.min()) <= int(y.max()) < classes:
        worst = int(y.max()) if int(y.max()) >= classes else int(y.min())
        raise ValueError(
            f"{path} has label {worst}, the model's {classes} classes are 0 to {classes - 1}: "
            "save y - y.min() if yours only begin elsewhere"
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
                raise ValueError(
                    f"{file} holds {values.dtype}, samples are uint8: {_kind_cure(values)}"
                )
            else:
                fits(file, values, models[0])


def _kind_cure(x):
    """How values that are no uint8 become samples; "" for uint8."""
    if x.dtype == np.uint8:
        return ""
    if x.dtype.kind == "f" and x.size and 0 <= x.min() and x.max() <= 1:
        return "save (255 * x).round().astype('uint8')"
    return "save numpy.clip(x, 0, 255).round().astype('uint8') if they are pixels"


def _shape_cure(one, wanted):
    """What to do with samples of shape `one`."""
    h, w, c = wanted
    if one == (c, h, w):
        return "the channels come first, x.transpose(0, 2, 3, 1) puts them last"
    if c == 1 and one == (h, w, 3):
        return "x.mean(axis=3).round().astype('uint8') makes grey images of colours"
    if c == 3 and one in ((h, w), (h, w, 1)):
        return "x.reshape(*x.shape[:3], 1).repeat(3, axis=3) makes three channels of one"
    return "resize or crop them"


def _shape(shape):
    return "x".join(map(str, shape))
