"""The journal file (docs/reference/spec/journal.md): a header, then records, written before they
are applied."""

from array import array

from ..board import files, memory
from ..net import words as L
from . import record

HEADER_LEN = 48
VERSION = 2
_MAGIC = b"mzojrnl\0"


def new_header(model, seed, board_id, data_crc, recipe_crc):
    """What a journal belongs to, sealed."""
    buf = bytearray(HEADER_LEN)
    buf[:8] = _MAGIC
    record.put16(buf, 8, VERSION)
    buf[12:20] = _model_crcs(model)
    record.put32(buf, 20, data_crc)
    record.put32(buf, 24, seed)
    record.put16(buf, 28, board_id)
    record.put32(buf, 32, len(model.state))
    record.put32(buf, 36, recipe_crc)
    model.k.seal(buf, HEADER_LEN - 4)
    return buf


def _model_crcs(model):
    return bytes(array("i", (model.plan[L.PLAN_CRC], model.plan[L.BLOB_CRC])))


def create(k, path, header, records):
    """A new journal, whole or not at all: one without its first records could not go on."""
    for rec in records:
        k.seal(rec, len(rec) - record.CRC)
    files.write_whole(path, (header,) + records)


def run_crc(k, header):
    """30 bits that tie checkpoints to a journal."""
    return k.crc32(header, 0, HEADER_LEN - 4)


class Reader:
    """Reads the whole records of a journal. end: offset after the last one; cut: bytes of a torn
    tail."""

    def __init__(self, k, path, settled=False):
        """settled: it is read as it is, whatever a power cut has left beside it."""
        self._k = k
        self.path = path
        if not settled and files.exists(files.temporary(path)):
            from . import whole

            whole.settle(k, path)
        self._file = files.open_for_reading(path)
        self.length = files.size(path)
        self.header = bytearray(HEADER_LEN)
        n = self._file.readinto(self.header)
        if (
            n < HEADER_LEN
            or bytes(self.header[:8]) != _MAGIC
            or not k.check_seal(self.header, HEADER_LEN - 4)
        ):
            raise ValueError("%s is not a microzo journal, or its header is damaged" % path)
        if record.get16(self.header, 8) != VERSION:
            raise ValueError(
                "%s is a journal of version %d, this microzo reads version %d: start it anew"
                % (path, record.get16(self.header, 8), VERSION)
            )
        self.end = HEADER_LEN
        self.data_crc = record.get32(self.header, 20)
        self.seed = record.get32(self.header, 24)
        self.board_id = record.get16(self.header, 28)
        self.state_len = record.get32(self.header, 32)
        self.recipe_crc = record.get32(self.header, 36)
        self.crc = run_crc(k, self.header)

    def rewind(self):
        self.end = HEADER_LEN

    def go_to(self, offset):
        """An offset where `end` has been: what was read from there on does not count."""
        self.end = offset

    def next(self):
        """The next whole record, or None at the end or before a torn or altered one."""
        head = bytearray(record.HEADER)
        files.seek(self._file, self.end)
        if self._file.readinto(head) != record.HEADER:
            return None
        n = record.get16(head, 2)
        whole = self.end + record.HEADER + n + record.CRC <= self.length
        if not whole or not record.RECIPE <= head[0] < len(record.NAMES):
            return None  # before memory is taken: a torn length may be anything
        rec = memory.take("a record of %s" % self.path, record.HEADER + n + record.CRC)
        files.seek(self._file, self.end)
        if self._file.readinto(rec) != len(rec) or not self._k.check_seal(rec, record.HEADER + n):
            return None
        self.end += len(rec)
        return rec

    def belongs_to(self, model):
        """ValueError if the journal was written for another model."""
        if bytes(self.header[12:20]) != _model_crcs(model):
            raise ValueError("%s was written for another model than %s" % (self.path, model.path))

    def close(self):
        self._file.close()


def cut_tail(path, end):
    """Shortens a journal to `end` bytes, through a temporary file: boards cannot truncate."""
    files.write_whole(path, _first_bytes(path, end))


def _first_bytes(path, left):
    block = bytearray(512)
    view = memoryview(block)
    with open(path, "rb") as f:
        while left:
            n = min(left, len(block))
            files.fill(f, view[:n], n, path)
            yield view[:n]
            left -= n
