"""Appends records to a journal, which has one writer."""

from ..board import files
from . import record

try:
    from weakref import WeakSet
except ImportError:
    WeakSet = set  # one that a board has left behind is closed before its journal goes on

writing = WeakSet()  # the open ones


class Writer:
    """Appends records. sync_every: records between flushes to the medium; lost: another object
    goes on with the journal."""

    def __init__(self, k, path, sync_every):
        self._k = k
        self.path = path
        self._sync_every = sync_every
        self._unsynced = 0
        self.lost = False
        self.position = files.size(path)
        self._file = open(path, "ab")
        writing.add(self)

    def append(self, rec):
        """Seals and writes one record."""
        n = len(rec)
        self._k.seal(rec, n - record.CRC)
        self.check()
        try:
            done = self._file.write(rec)
            self._unsynced += 1
            if rec[0] == record.END:
                files.sync(self._file)
            elif self._unsynced >= self._sync_every:
                self._file.flush()
                self._unsynced = 0
        except OSError as e:
            done = e
        if done != n:
            raise self._unwritable(done)
        self.position += n

    def sync(self):
        """All records are on the medium."""
        try:
            files.sync(self._file)
        except OSError as e:
            raise self._unwritable(e)
        self._unsynced = 0

    def check(self):
        """ValueError if another object has the journal."""
        if self.lost:
            raise ValueError(
                "another Trainer goes on with %s: use that one, or microzo.resume anew" % self.path
            )

    def _unwritable(self, why):
        return OSError(
            "%s cannot be written (%s), make room in its file system, then resume"
            % (self.path, why)
        )

    def lose(self):
        """Another object goes on."""
        self.close()
        self.lost = True

    def close(self):
        """A second time, after an interruption, it does no harm."""
        writing.discard(self)
        try:
            self._file.close()
        except OSError:
            pass  # what did not fit is not whole, whoever resumes cuts it
