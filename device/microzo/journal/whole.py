"""Tells how much of a journal or a checkpoint is whole; imported when a power cut has left a
temporary one."""

from .. import forget
from ..board import files
from ..board import settle as board_settle
from . import checkpoint, record
from . import file as journals


def settle(k, path):
    """The old journal or the new one is under its name again."""

    def worth(path):
        try:
            reader = journals.Reader(k, path, settled=True)
        except (OSError, ValueError):
            return 0
        try:
            begun = reader.next() is not None  # without its RECIPE it could not go on
            while reader.next() is not None:
                pass
            return reader.end if begun else 0
        except OSError:
            return 0
        finally:
            reader.close()

    _settle(path, worth)


def settle_checkpoint(k, path):
    """The old checkpoint or the new one is under its name again."""
    _settle(path, lambda path: _is_whole(path, k))


def _settle(path, worth):
    try:
        board_settle.settle(path, worth)
    finally:
        forget("journal.whole")
        forget("board.settle")


def _is_whole(path, k):
    """True if a checkpoint has the length that its header tells; what of it is damaged is seen
    when it is read."""
    head = checkpoint.header(path, k)
    if head is None:
        return False
    return record.get32(head, 12) + record.get32(head, 16) + checkpoint.HEADER_LEN == files.size(
        path
    )
