"""What all pictures share: matplotlib, colours, PNG bytes that are the same for the same data."""

import contextlib
import io

from .. import extras

# Of Okabe and Ito: people who see few colours tell them apart.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f")
GRID, INK, FAINT = "#dddddd", "#222222", "#777777"
DPI = 110


@contextlib.contextmanager
def figure(width, height, **layout):
    """(matplotlib Figure of so many inches, its axes), in our style inside; ImportError, in a
    sentence, without matplotlib."""
    try:
        import matplotlib
        import matplotlib.figure
    except ImportError:
        raise extras.missing("pictures need the package matplotlib", "report") from None
    style = {
        "font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
        "axes.edgecolor": FAINT, "axes.labelcolor": INK, "axes.titlesize": 10,
        "xtick.color": FAINT, "ytick.color": FAINT, "legend.frameon": False,
    }  # fmt: skip
    with matplotlib.rc_context(style):
        made = matplotlib.figure.Figure((width, height), layout="constrained", dpi=DPI)
        yield made, made.subplots(**layout)


def png(made):
    """The bytes of a Figure, without a date."""
    file = io.BytesIO()
    made.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()


def grid(axes, axis="y"):
    axes.grid(axis=axis, color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)


def colour(number):
    return COLOURS[number % len(COLOURS)]
