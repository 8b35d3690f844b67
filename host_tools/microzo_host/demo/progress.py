"""Live progress of runs that go on side by side: bars on a terminal, lines elsewhere."""

import contextlib
import sys
import threading

import rich.console
import rich.progress

from .session import RESULT, STEP

LINES_PER_RUN = 12  # step lines shown of a run where there is no terminal


class Display:
    """``tell(case, recipe)`` gives the function that takes the lines of one run."""

    def __init__(self):
        # The stream of now: a link to a board silences sys.stdout for moments.
        self.console = rich.console.Console(file=sys.stdout)
        self._lock = threading.Lock()
        self._bars = rich.progress.Progress(
            rich.progress.TextColumn("{task.description:28}"),
            rich.progress.BarColumn(bar_width=24),
            rich.progress.TextColumn("{task.fields[line]}"),
            console=self.console,
            disable=not self.console.is_terminal,
        )

    @contextlib.contextmanager
    def running(self):
        """Bars are shown inside."""
        with self._bars:
            yield self

    def say(self, text):
        """A line of its own, above the bars."""
        with self._lock:
            self.console.print(text, highlight=False, markup=False, soft_wrap=True)

    def tell(self, case, recipe):
        """A function for the lines of one run of train.py."""
        label = f"{case} {recipe}"
        task = self._bars.add_task(label, total=None, line="starting")

        def take(line):
            found = STEP.match(line)
            if not found:
                if line and not line.startswith(RESULT):
                    self.say(f"[{label}] {line}")
                return
            step, steps = int(found[1]), int(found[2])
            self._bars.update(task, completed=step, total=steps, line=line)
            if not self.console.is_terminal and step % max(1, steps // LINES_PER_RUN) == 0:
                self.say(f"[{label}] {line}")

        return take
