"""The journal of a live run: exact gradients in it cannot be followed, their samples are gone."""

from .. import forget
from ..journal import checkpoint, record
from .store import JournalStore, checkpoint_paths


class LiveJournal(JournalStore):
    """A JournalStore that goes on at its last checkpoint where it must."""

    def __init__(self, k, path, sync_every, checkpoint_every):
        JournalStore.__init__(self, k, path, sync_every, checkpoint_every)
        self._kernels = k
        self._file = path

    def position(self, run):
        """The Position after the last whole record; a torn tail is cut. The model stays."""
        from .replay import scan

        return self._reopened(run, lambda reader: scan(run, reader)[0])

    def restore_mark(self, run, undo):
        """The values where the last stage began, for its guard; the model takes them."""
        path = self._file + ".mark"
        if checkpoint.offset_of(path, self._kernels, self._crc) >= 0:
            checkpoint.read(path, run.model, None)
        undo.mark()

    def trim(self, run):
        """Cuts off what cannot be followed; `restore` then goes on there."""
        self._reopened(run, lambda reader: self._follow(run, reader))

    def _reopened(self, run, read):
        """What `read` makes of a Reader of the journal; what stands behind its end is cut."""
        from ..journal import file as journals

        self.release()
        reader = journals.Reader(self._kernels, self._file)
        try:
            reader.belongs_to(run.model)
            result = read(reader)
            end, length, crc = reader.end, reader.length, reader.crc
        finally:
            reader.close()
        if end < length:
            journals.cut_tail(self._file, end)
        self.open(crc)
        forget("train.replay")
        forget("journal.file")
        return result

    def _follow(self, run, reader):
        """The reader goes to the end of the records that can be applied, from the checkpoint that
        reaches furthest."""
        from . import replay

        _, begin, dead = replay.scan(run, reader)
        end = reader.end
        best = begin
        for start in [begin] + self._checkpoints(run, reader, begin, end, dead):
            best = max(best, _until_live(reader, start, end, dead))
        reader.go_to(best)

    def _checkpoints(self, run, reader, begin, end, dead):
        """Offsets of checkpoints whose content is whole."""
        from . import replay

        paths = checkpoint_paths(self._file)
        pairs = replay.candidates(run, reader, paths, begin, end, dead)
        return [at for path, at in pairs if checkpoint.read(path, run.model, run.gradient)]


def _until_live(reader, start, end, dead):
    """Offset of the first record from `start` on whose samples would be needed."""
    reader.go_to(start)
    while reader.end < end:
        offset = reader.end
        rec = reader.next()
        if rec[1] & record.LIVE and not any(mark < offset < stop for mark, stop in dead):
            return offset
    return end
