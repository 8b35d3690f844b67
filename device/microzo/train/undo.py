"""What a live step changes, as it was before: nobody can give its samples again."""

from ..board import memory


class Undo:
    """Copies of the trained values and of the momentum, for a step that is interrupted, and of
    the values where a guarded stage began. of: the step that the copies belong to."""

    def __init__(self, run):
        self._run = run
        size = len(run.model.state)
        self._state = memory.take("the undo of a step", size)
        self._gradient = bytearray(0)
        self._make_room()
        guarded = any(spec["guard"] for spec in run.program["stages"])
        self.marked = memory.take("the copy for roll-back", size if guarded else 0)
        self.of = None

    def save(self, key):
        """Before step `key`. An interruption leaves the copies to no step."""
        self._make_room()
        memoryview(self._state)[:] = self._run.model.state
        at = 0
        for part in self._parts():
            memoryview(self._gradient)[at : at + len(part)] = part
            at += len(part)
        self.of = key

    def restore(self):
        memoryview(self._run.model.state)[:] = self._state
        at = 0
        for part in self._parts():
            memoryview(part)[:] = memoryview(self._gradient)[at : at + len(part)]
            at += len(part)

    def mark(self):
        """A guarded stage begins."""
        if len(self.marked):
            memoryview(self.marked)[:] = self._run.model.state

    def roll_back(self):
        memoryview(self._run.model.state)[:] = self.marked

    def _make_room(self):
        """For the gradient of the stage, which may be another one's."""
        need = sum(len(part) for part in self._parts())
        if need > len(self._gradient):
            self._gradient = bytearray(0)
            self._gradient = memory.take("the undo of a step", need)

    def _parts(self):
        return self._run.gradient.buffers() if self._run.gradient else ()
