"""A scatter plot as SVG: logarithmic x, one labelled point a recipe, dashed levels."""

import matplotlib
import matplotlib.figure
import matplotlib.ticker

INCHES = (6.4, 4)
# Text stays text, and the same points give the same file.
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "microzo"})


def scatter(path, title, x_label, points, levels):
    """Draws the SVG file. points: (label, x > 0, y in per cent); levels: (label, y)."""
    figure = matplotlib.figure.Figure(INCHES, layout="constrained")
    axes = figure.add_subplot(title=title, xlabel=x_label, xscale="log")
    axes.grid(color="#ddd")
    axes.set_axisbelow(True)
    axes.xaxis.set_major_formatter(matplotlib.ticker.EngFormatter(sep=""))
    axes.yaxis.set_major_formatter(matplotlib.ticker.PercentFormatter(decimals=0, symbol=" %"))
    for label, level in levels:
        axes.axhline(level, color="#c33", linestyle="--", gid=f"level {label}")
        _write(axes, label, (1, level), ("axes fraction", "data"), 4)
    shown = sorted(points, key=lambda point: -point[2])
    axes.scatter([x for _, x, _ in shown], [y for _, _, y in shown], color="#269", gid="points")
    axes.margins(0.1)
    figure.draw_without_rendering()
    taken = []
    for label, x, y in shown:
        across, up = axes.transData.transform((x, y))
        drop = 0
        while any(abs(across - a) < 90 and abs(up - drop - u) < 12 for a, u in taken):
            drop += 4  # labels do not cover each other
        taken.append((across, up - drop))
        _write(axes, label, (x, y), "data", 7, -drop * 72 / figure.dpi)
    figure.savefig(path, format="svg", metadata={"Date": None})


def _write(axes, text, at, of, right, up=0):
    axes.annotate(
        text, at, xycoords=of, xytext=(right, up), textcoords="offset points", va="center"
    )
