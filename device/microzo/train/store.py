"""Where a run is kept: in RAM until it ends, or in a journal that survives a power cut.

A store has append(record), mark(model) where a stage begins, rollback(run, data) to bring that
back, checkpoint(step, run, stage), close(). durable: restore(run, data) -> (Position, Stage or
None) goes on after an interruption, to the same bits.
"""

from .. import forget
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
        self._warned = False
        self._crc = 0  # ties checkpoints to the journal

    def open(self, run_crc):
        """Goes on writing behind the last record."""
        self._crc = run_crc
        self._writer = Writer(self._k, self._path, self._sync_every)

    def append(self, rec):
        self._writer.append(rec)

    def mark(self, model):
        self._save(self._path + ".mark", model, None)

    def rollback(self, run, data):
        self.restore(run, data)

    def restore(self, run, data):
        """State and position after the last whole record; a torn tail is cut. An earlier object
        that still writes the journal loses it."""
        from ..journal import file as journals
        from .replay import replay_into

        self.release()
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

    def release(self):
        """Lets go of the file, so that it can be read and cut; finishes or drops what a cut has
        left of checkpoints."""
        if self._writer is not None:
            self._writer.check()
        self.close()
        from ..journal import begin

        begin.take_over(self._path)
        begin = None
        forget("journal.begin")
        forget("board.same")
        for path in checkpoint_paths(self._path):
            if files.exists(files.temporary(path)):
                from ..journal import whole

                whole.settle_checkpoint(self._k, path)

    def checkpoint(self, step, run, stage):
        if step % self._checkpoint_every:
            return
        slot = step // self._checkpoint_every & 1
        gradient = None if stage.clean else run.gradient
        self._save(self._path + ".ck%d" % slot, run.model, gradient)

    def _save(self, path, model, gradient):
        """A checkpoint; without one, replay is longer."""
        self._writer.sync()
        try:
            checkpoint.write(path, model, self._writer.position, self._crc, gradient)
        except OSError as e:
            files.remove(path)
            files.remove(files.temporary(path))
            self._warn("training goes on without a checkpoint: %s" % e)

    def _warn(self, text):
        """Once a run."""
        if not self._warned:
            from . import advice

            advice.say(text)
            forget("train.advice")
        self._warned = True

    def remove(self, path):
        files.remove(path)

    def close(self):
        if self._writer is not None:
            self._writer.close()
            self._writer = None
