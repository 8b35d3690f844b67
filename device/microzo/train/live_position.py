"""Where a live run stands: it has no end."""

from .position import Position


class LivePosition(Position):
    """The stages behind the last label-free one (or that alone) go round. outcomes: the last one
    of each stage of the program."""

    def number(self):
        n = len(self._stages)
        if self.stage < n:
            return self.stage
        first = n
        while first and not self._stages[first - 1].get("realigns"):
            first -= 1
        first = min(first, n - 1)
        return first + (self.stage - first) % (n - first)

    def again(self):
        """True if the stage is repeated."""
        return self.stage >= len(self._stages)

    def begin_as(self, other):
        """The stage has begun or not, as in another Position that is in it."""
        self.sizes = other.sizes
        self.before = other.before
        self.begun = other.begun

    def measured(self, score):
        """The beginning of the stage, on the samples that are held out now."""
        self.before = score

    def _next(self, kept, after):
        at = self.number()
        before = self.outcomes
        Position._next(self, kept, after)
        self.outcomes = before[:at] + self.outcomes[-1:] + before[at + 1 :]
