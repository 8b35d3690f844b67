"""Pictures of one run, as PNG bytes: curves, confusion matrices, samples, memory."""

import numpy as np

from . import plots

BAD = "#b3261e"


def curves(trace):
    """Loss and accuracy step by step; stages are bands, those that were rolled back are grey."""
    numbers = [point.number for point in trace.points]
    with plots.figure(8, 3, ncols=2) as (made, (left, right)):
        for axes, kind, factor in ((left, "loss", 1), (right, "accuracy", 100)):
            for i, (name, field) in enumerate((("training", kind), ("test", "test_" + kind))):
                values = [getattr(point, field) for point in trace.points]
                if values[0] is not None:
                    axes.plot(numbers, [factor * v for v in values], color=plots.colour(i),
                              linewidth=1.4, label=f"{name} samples")  # fmt: skip
            _bands(axes, trace.stages)
            plots.grid(axes)
            axes.set_xlabel("step")
            axes.set_xlim(0, max(numbers) or 1)
        left.set_ylabel("loss, nats")
        left.set_ylim(bottom=0)
        low, high = right.get_ylim()
        right.set_ylim(bottom=low - 0.25 * (high - low))  # room for the names of the stages
        right.set_ylabel("right answers, per cent")
        right.legend(loc="center right")
        return plots.png(made)


def _bands(axes, stages):
    """A band for each stage, with its name at the bottom."""
    for i, stage in enumerate(stages):
        shade = plots.GRID if stage.kept is False else ("#eef4fa", "#f7fafd")[i % 2]
        axes.axvspan(stage.begin - 1, stage.end, color=shade, linewidth=0, zorder=0)
        narrow = stage.end - stage.begin < 0.2 * stages[-1].end
        middle = (stage.begin - 1 + stage.end) / 2
        axes.text(middle, 0.03, stage.kind, ha="center", va="bottom", fontsize=7.5,
                  rotation=90 if narrow else 0, color=plots.FAINT,
                  transform=axes.get_xaxis_transform())  # fmt: skip


def confusion(labels, before, after, names):
    """Two matrices: rows are the true classes, columns what the model said."""
    n = len(names)
    size = min(4.4, 1.6 + 0.28 * n)
    with plots.figure(2 * size, size, ncols=2, sharey=True) as (made, panels):
        for axes, classes, title in zip(panels, (before, after), ("before", "after")):
            matrix = counts(labels, classes, n)
            share = matrix / np.maximum(1, matrix.sum(1, keepdims=True))
            axes.imshow(share, cmap="Blues", vmin=0, vmax=1)
            for i, j in zip(*np.nonzero(matrix)):
                if n <= 20:
                    ink = "white" if share[i, j] > 0.55 else (BAD if i != j else plots.INK)
                    axes.text(j, i, matrix[i, j], ha="center", va="center", fontsize=7, color=ink)
            right = 100 * (labels == classes).mean()
            axes.set_title(f"{title}: {right:.1f} % right")
            axes.set_xlabel("the model says")
            axes.set_xticks(range(n), names, rotation=0 if max(map(len, names)) < 3 else 90)
            axes.tick_params(length=0)
        panels[0].set_yticks(range(n), names)
        panels[0].set_ylabel("true class")
        return plots.png(made)


def counts(labels, classes, n):
    """int (n, n): how many samples of each class (row) were said to be of each (column)."""
    matrix = np.zeros((n, n), int)
    np.add.at(matrix, (labels, classes), 1)
    return matrix


def samples(x, captions, columns=6):
    """Samples with a line below each; x: uint8 N x H x W x C."""
    columns = min(columns, len(x))
    lines = -(-len(x) // columns)
    layout = {"nrows": lines, "ncols": columns, "squeeze": False}
    with plots.figure(1.25 * columns, 1.55 * lines, **layout) as (made, panels):
        for axes in panels.flat:
            axes.set_axis_off()
        for axes, sample, caption in zip(panels.flat, x, captions):
            draw(axes, sample)
            axes.set_title(caption, y=-0.08, va="top", fontsize=8)
        return plots.png(made)


def draw(axes, sample):
    """One sample, uint8 H x W x C: an image, or a curve for each channel of a signal."""
    rows, columns, channels = sample.shape
    if min(rows, columns) == 1:
        series = sample.reshape(-1, channels)
        for i in range(min(channels, 6)):
            axes.plot(series[:, i], color=plots.colour(i), linewidth=0.9)
        axes.set_ylim(-5, 260)
    elif channels == 3:
        axes.imshow(sample)
    else:
        axes.imshow(sample.mean(2), cmap="gray", vmin=0, vmax=255)


def memory(parts, limit):
    """Bytes of each part of the peak, the largest first, beside what the board has."""
    parts = sorted(parts.items(), key=lambda part: part[1])
    with plots.figure(7, 0.9 + 0.24 * len(parts)) as (made, axes):
        sizes = [size / 1024 for _, size in parts]
        axes.barh([name for name, _ in parts], sizes, color=plots.colour(0), height=0.7)
        for i, size in enumerate(sizes):
            axes.text(size, i, f" {size:.1f}", va="center", fontsize=8, color=plots.INK)
        total = sum(sizes)
        axes.set_xlabel(f"KB; together {total:.0f} of {limit / 1024:.0f} KB")
        axes.margins(x=0.1, y=0.02)
        axes.tick_params(axis="y", length=0)
        plots.grid(axes, "x")
        return plots.png(made)
