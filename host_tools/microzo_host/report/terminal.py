"""Live curves in a terminal: rich draws the frame, plotext the curves."""

import rich.console
import rich.text

from .. import extras

HEIGHT = 13  # lines of a chart
NARROW = 96  # columns, below which the charts stand above each other


class Screen:
    """What rich shows of a live.Live; ImportError, in a sentence, without plotext."""

    def __init__(self, live):
        try:
            import plotext
        except ImportError:
            raise extras.missing("live curves need the package plotext", "report") from None
        self._plotext = plotext
        self._live = live

    def __rich_console__(self, console, options):
        state = self._live.state()
        wide = options.max_width >= NARROW
        width = options.max_width // 2 - 1 if wide else options.max_width
        charts = [
            self._chart(state["curves"], kind, title, width, console.color_system is not None)
            for kind, title in (("loss", "loss, nats"), ("accuracy", "right answers, per cent"))
        ]
        if wide:
            rows = zip(*(chart.split("\n", allow_blank=True) for chart in charts))
            for left, right in rows:
                left.truncate(width, pad=True)
                yield left + "  " + right
        else:
            yield from charts
        yield rich.text.Text(state["progress"], style="bold")
        for line in state["lines"]:
            yield rich.text.Text(line, style="dim", no_wrap=True, overflow="ellipsis")

    def _chart(self, curves, kind, title, width, coloured):
        """A Text of HEIGHT lines."""
        p = self._plotext
        p.clear_figure()
        p.theme("clear")
        p.plotsize(width, HEIGHT)
        p.title(title)
        ends = [stage["end"] for stage in curves["stages"]]
        last = max([4, *ends])
        p.xlim(0, last)
        p.xticks([last * i // 4 for i in range(5)])
        if kind == "accuracy":
            p.ylim(0, 100)
            p.yticks([0, 25, 50, 75, 100])
        else:
            p.ylim(0, 1.05 * max([0.1, *(y for s in curves["series"] for _, y in s["loss"])]))
        for stage in curves["stages"][1:]:
            p.vertical_line(stage["begin"], color="gray")
        for series in curves["series"]:
            if series[kind]:
                x, y = zip(*series[kind])
                p.plot(x, y, marker="braille", color="blue+" if kind == "loss" else "orange+")
        text = p.build().rstrip("\n")
        return rich.text.Text.from_ansi(text if coloured else p.uncolorize(text))
