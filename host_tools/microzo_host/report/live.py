"""A run as it prints itself: the lines of train.py become curves, stages and a line of progress.

step 12/200 loss 0.83 acc 71.9 % 0.4 s/step eta 75 s (tail)
tail kept: on its own 256 training samples: 78.5 % -> 99.2 %
"""

import json
import re
import threading

from ..visible import Stream

STEP = re.compile(
    r"step (?P<step>\d+)/(?P<steps>\d+)"
    r"(?: loss (?P<loss>\d+\.\d+))?(?: acc (?P<accuracy>\d+\.\d+) %)?"
    r"(?: \S+ s/step)?(?: eta (?P<eta>\d+) s)? \((?P<stage>[\w-]+)\)(?: warning: .*)?$"
)
OUTCOME = re.compile(r"(?P<stage>[\w-]+) (?P<word>kept|rolled back)\b")
RESULT = "RESULT "
LINES = 12  # of other output that are kept to be shown
LONGEST = 200  # characters of such a line
UNENDED = 1 << 13  # characters of a line that has not ended
MOST = 1 << 20  # steps of a stage: what lies above is none
POINTS = 4000  # of a curve; of a longer one every other is forgotten


class Live:
    """feed(bytes) takes what the board sends; others may look at the same time.

    ``ended``: the script has said its RESULT, or `end` was called.
    """

    def __init__(self):
        self._stream = Stream()
        self._rest = ""
        self._changed = threading.Condition()
        self.version = 0
        self.ended = False
        self._stages, self._loss, self._accuracy, self._lines = [], [], [], []
        self._base = self._last = 0
        self._steps = None
        self._progress = "waiting for the first step"

    def feed(self, data):
        *lines, self._rest = (self._rest + self._stream.feed(data)).split("\n")
        self._rest = self._rest[-UNENDED:]
        with self._changed:
            for line in lines:
                self._take(line.strip("\r\x04> "))
            if lines:
                self._tell()

    def end(self, why=""):
        """Nothing more will come; why: a sentence to show."""
        with self._changed:
            if why:
                self._progress = why
            self.ended = True
            self._tell()

    def wait(self, version, seconds):
        """Returns when there is a later version, or after so many seconds; the version."""
        with self._changed:
            self._changed.wait_for(lambda: self.version > version, seconds)
            return self.version

    def curves(self):
        """As curves.js takes them: the loss and accuracy of every step that was printed."""
        with self._changed:
            return {
                "series": [
                    {"name": "samples of the step", "loss": [*self._loss],
                     "accuracy": [*self._accuracy]}
                ] if self._loss or self._accuracy else [],
                "stages": [dict(stage) for stage in self._stages],
            }  # fmt: skip

    def state(self):
        """What the page shows, a dict that json can hold."""
        with self._changed:
            words = {"progress": self._progress, "lines": [*self._lines], "ended": self.ended}
        return words | {"curves": self.curves()}

    def _tell(self):
        self.version += 1
        self._changed.notify_all()

    def _take(self, line):
        step = STEP.match(line)
        if step:
            self._take_step(step)
            return
        if not line:
            return
        outcome = OUTCOME.match(line)
        if outcome:
            self._take_outcome(outcome)
        if line.startswith(RESULT):
            self._take_result(line.removeprefix(RESULT))
            return
        self._lines = [*self._lines, line[:LONGEST]][-LINES:]

    def _take_step(self, found):
        step, steps = int(found["step"]), int(found["steps"])
        if not 1 <= step <= steps <= MOST or len(self._stages) > LINES * LINES:
            return
        stage = found["stage"]
        stages = self._stages
        if not stages or stages[-1]["kind"] != stage or steps != self._steps or step <= self._last:
            self._base = stages[-1]["whole"] if stages else 0
            stages.append(
                {"kind": stage, "begin": self._base + 1, "kept": None, "whole": self._base + steps}
            )
        self._last, self._steps = step, steps
        number = self._base + step
        stages[-1]["end"] = number
        for name, values in (("loss", self._loss), ("accuracy", self._accuracy)):
            if found[name]:
                values.append([number, float(found[name])])
                if len(values) > POINTS:
                    del values[::2]
        eta = f", {found['eta']} s to go in this stage" if found["eta"] else ""
        self._progress = f"{stage}: step {step} of {steps}{eta}"

    def _take_outcome(self, found):
        for stage in self._stages:
            if stage["kind"] == found["stage"] and stage["kept"] is None:
                stage["kept"] = found["word"] == "kept"
                return

    def _take_result(self, text):
        try:
            result = json.loads(text)
            before, after = result["before"], result["after"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return
        self._progress = "the run has ended"
        if isinstance(before, int | float) and isinstance(after, int | float):
            self._progress += f": {before:.1f} % -> {after:.1f} % of the test samples are right"
        self.ended = True
