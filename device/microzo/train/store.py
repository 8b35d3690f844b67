"""Where a run is kept: in RAM until it ends, or in a journal that survives a power cut.

A store has append(record), mark(model) where a stage begins, rollback(run, data) to bring that
back, checkpoint(step, run, stage), close(). durable: restore(run, data) -> (Position, Stage or
None) goes on after an interruption, to the same bits.
"""

from ..board import files, memory
from ..journal import checkpoint
from ..journal.writer import Writer


class RamStore:
    """Keeps the state of the last mark."""

    durable = False

    def __init__(self, size):
        self._mark = memory.take("the copy for roll-back", size)

    def append(self, rec):
        """Nothing is kept."""

    def mark(self, model):
        memoryview(self._mark)[:] = model.state

    def rollback(self, run, data):
        memoryview(run.model.state)[:] = self._mark

    def checkpoint(self, step, run, stage):
        """Nothing is kept."""

    def remove(self, path):
        files.remove(path)

    def close(self):
        self._mark = None


def checkpoint_paths(path):
    """Files beside a journal."""
    return [path + end for end in (".ck0", ".ck1", ".mark")]


class JournalStore:
    """Of a journal that exists. sync_every: records between flushes; checkpoint_every: steps
    between checkpoints."""

    durable = True

    def __init__(self, k, path, sync_every, checkpoint_every):
        self._k = k
        self._path = path
        self._sync_every = sync_every
        self._checkpoint_every = checkpoint_every
        self._writer = None
        self._crc = 0  # ties checkpoints to the journal

    def open(self, run_crc):
        """Goes on writing behind the last record."""
        self._crc = run_crc
        self._writer = Writer(self._k, self._path, self._sync_every)

    def append(self, rec):
        self._writer.append(rec)

    def mark(self, model):
        self._writer.sync()
        checkpoint.write(self._path + ".mark", model, self._writer.position, self._crc)

    def rollback(self, run, data):
        self.restore(run, data)

    def restore(self, run, data):
        """State and position after the last whole record; a torn tail is cut."""
        from .. import forget
        from ..journal import file as journals
        from .replay import replay_into

        self.close()
        reader = journals.Reader(self._k, self._path)
        try:
            reader.belongs_to(run.model)
            at, stage = replay_into(run, reader, data, checkpoint_paths(self._path))
            end, length, crc = reader.end, reader.length, reader.crc
        finally:
            reader.close()
        if end < length:
            journals.cut_tail(self._path, end)
        if not at.finished:
            self.open(crc)
        journals = None
        forget("train.replay")
        forget("journal.file")
        return at, stage

    def checkpoint(self, step, run, stage):
        if step % self._checkpoint_every:
            return
        self._writer.sync()
        slot = step // self._checkpoint_every & 1
        gradient = None if stage.clean else run.gradient
        path = self._path + ".ck%d" % slot
        checkpoint.write(path, run.model, self._writer.position, self._crc, gradient)

    def remove(self, path):
        files.remove(path)

    def close(self):
        if self._writer is not None:
            self._writer.close()  # a second time, after an interruption, does no harm
            self._writer = None
