"""Live samples in RAM: those of the next step, and those that no label is learned from."""

from array import array

from ..board import memory
from .undo import Undo


class Collected:
    """A data source that is filled while a run goes on.

    Slots 0..window-1 are a ring of the last samples that label-free stages look at and guards
    measure; the slots behind it hold the batch of the next step. count: samples of the recipe;
    labelled: the run learns from labels. undo: an Undo, once `place` has taken the buffers.
    """

    live = True

    def __init__(self, count, labelled):
        self._count = count
        self.labelled = labelled
        self.window = 0
        self.undo = None
        self._x = self._y = None
        self._len = self._last = 0
        # (key, its samples, those in the batch; in the window; of all): one assignment counts a
        # sample, so that an interruption finds it counted or not
        self._counts = (None, 0, 0, 0, 0)

    @staticmethod
    def RamStore(size):
        """The store of a run without a journal (store.py)."""
        from .live import NoStore

        return NoStore()

    @staticmethod
    def JournalStore(*arguments):
        from .live_store import LiveJournal

        return LiveJournal(*arguments)

    def place(self, run):
        """Takes the buffers that the program of a run needs."""
        self.window = run.program["live"]
        self._len = run.model.sample_len
        slots = self.window + largest_batch(run.program)
        self._x = memoryview(memory.take("the collected samples", slots * self._len))
        self._y = array("h", bytearray(2 * slots))
        self.undo = Undo(run)

    def __len__(self):
        return self._count

    def labels(self, first):
        """A view of the labels from slot `first` on; -1: unknown."""
        return memoryview(self._y)[first:]

    def label(self, i):
        return self._y[i]

    def read_into(self, i, buf):
        memoryview(buf)[:] = self._x[i * self._len : (i + 1) * self._len]
        return self._y[i]

    def put(self, key, x, label, held):
        """Counts a sample for `key`, in the window if it is held out, else in the batch."""
        seen, batch = self.counted(key)
        _, _, _, ring, total = self._counts
        slot = ring % self.window if held else self.window + batch
        self._last = slot
        self._x[slot * self._len : (slot + 1) * self._len] = x
        self._y[slot] = label
        self._counts = (key, seen + 1, batch + (not held), ring + held, total + 1)

    def counted(self, key):
        """(samples, those in the batch) that were put for `key`."""
        return self._counts[1:3] if self._counts[0] == key else (0, 0)

    def held(self):
        """Samples that were ever put into the window."""
        return self._counts[3]

    def total(self):
        """Samples that were ever put."""
        return self._counts[4]

    def holds_last(self, x, label):
        """Whether the sample that was put last is this one."""
        at = self._last * self._len
        return self._y[self._last] == label and bytes(self._x[at : at + self._len]) == bytes(x)


def batch_of(spec):
    """Samples of a live step of a resolved stage; 0: it looks at the whole window."""
    if spec.get("realigns"):
        return 0
    return spec["batch"] if "batch" in spec else spec["samples"]


def largest_batch(program):
    return max(batch_of(spec) for spec in program["stages"])
