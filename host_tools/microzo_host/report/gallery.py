"""Pictures of samples with what a model says of them, plain and corrupted."""

import numpy as np

import microzo

from ..data import colour_corruptions, corruptions
from ..model import checks, names
from . import pictures, plots

PLAIN = 18  # samples in a picture
ROWS, SEED = 4, 1  # of the picture of corruptions
INCHES = 11
WRONG, RIGHT = pictures.BAD, "#00704f"


def samples(model_path, model, x, y):
    """PNG of the first samples of each class, with what the model says."""
    index = _spread(y, PLAIN)
    said = _said(model_path, x[index])
    return _grid(x[index], said, y[index], names.of(model), 9)


def corrupted(model_path, model, x, y, severity):
    """PNG: a row for each of some samples, a column for each corruption, the first without."""
    module = _corruptions(model)
    index = _spread(y, ROWS)
    x, y = x[index], y[index]
    columns = [x] + [module.apply(name, x, severity, SEED) for name in module.NAMES]
    said = np.array([_said(model_path, column) for column in columns])
    titles = [name.replace("_", "\n") for name in ("clean", *module.NAMES)]
    classes = names.of(model)
    below, beside = max(4, model.in_h // 4), max(2, model.in_w // 12)
    high, wide = model.in_h + below, model.in_w + beside
    canvas = np.full((high * len(y), wide * len(titles), 3), 255, np.uint8)
    above = 0.4 * model.in_h
    shape = canvas.shape[1], canvas.shape[0] + above
    with plots.figure(INCHES, INCHES * shape[1] / shape[0]) as (made, axes):
        axes.set_axis_off()
        for j, (column, title) in enumerate(zip(columns, titles)):
            middle = wide * j + model.in_w / 2
            axes.text(middle, -0.08 * model.in_h, title, ha="center", va="bottom", fontsize=8)
            for i, sample in enumerate(column):
                top = high * i + model.in_h
                canvas[high * i : top, wide * j : wide * j + model.in_w] = sample
                colour = RIGHT if said[j, i] == y[i] else WRONG
                axes.text(middle, top + 0.03 * model.in_h, classes[said[j, i]], ha="center",
                          va="top", fontsize=8, color=colour)  # fmt: skip
        axes.imshow(canvas, interpolation="nearest")
        axes.set_ylim(len(canvas), -above)
        return plots.png(made)


def load(model, x_path, y_path):
    """(samples, labels) that fit a model; ValueError in a sentence."""
    return checks.data(x_path, y_path, model)


def _grid(x, said, y, classes, columns):
    lines = -(-len(x) // columns)
    layout = {"nrows": lines, "ncols": min(columns, len(x)), "squeeze": False}
    with plots.figure(0.95 * layout["ncols"], 1.2 * lines, **layout) as (made, panels):
        for axes in panels.flat:
            axes.set_axis_off()
        for i, axes in zip(range(len(x)), panels.flat):
            _one(axes, x[i], classes, said[i], y[i])
        return plots.png(made)


def _one(axes, sample, classes, said, label):
    """A sample and what the model says: green if it is right, red if not."""
    axes.set_axis_off()
    pictures.draw(axes, sample)
    axes.text(0.5, -0.04, classes[said], ha="center", va="top", fontsize=8,
              color=RIGHT if said == label else WRONG, transform=axes.transAxes)  # fmt: skip


def _said(model_path, x):
    model = microzo.load(str(model_path))
    return np.array([model.predict(sample.tobytes()) for sample in np.ascontiguousarray(x)])


def _spread(y, count):
    """Numbers of up to so many samples, of one class after the other."""
    rank = np.array([np.sum(y[:i] == label) for i, label in enumerate(y)])
    return np.lexsort((y, rank))[:count]


def _corruptions(model):
    if model.in_c not in (1, 3) or min(model.in_h, model.in_w) < 8:
        raise ValueError(
            f"corruptions are for images of 1 or 3 channels, this model takes {model.in_h} x "
            f"{model.in_w} x {model.in_c}"
        )
    return colour_corruptions if model.in_c == 3 else corruptions
