"""Appends records to a journal."""

from ..board import files
from . import record


class Writer:
    """Appends records. sync_every: records between flushes to the medium."""

    def __init__(self, k, path, sync_every):
        self._k = k
        self._path = path
        self._sync_every = sync_every
        self._unsynced = 0
        self.position = files.size(path)
        self._file = open(path, "ab")

    def append(self, rec):
        """Seals and writes one record."""
        n = len(rec)
        self._k.seal(rec, n - record.CRC)
        try:
            done = self._file.write(rec)
        except OSError as e:
            done = e
        if done != n:
            raise OSError(
                "%s cannot be written (%s), make room in its file system" % (self._path, done)
            )
        self.position += n
        self._unsynced += 1
        if self._unsynced >= self._sync_every:
            self.sync()

    def sync(self):
        self._file.flush()
        self._unsynced = 0

    def close(self):
        self._file.close()
