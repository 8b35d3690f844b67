"""What comes before a journal is begun or goes on; imported for that alone."""

from ..board import files
from ..board.same import same
from .writer import writing


def has_begun(k, path):
    """True if there is a journal, or one that a power cut has kept from its name."""
    if files.exists(files.temporary(path)):
        from . import whole

        whole.settle(k, path)
    return files.exists(path)


def take_over(path):
    """Closes what another object has open to write this journal."""
    for writer in list(writing):
        if same(writer.path, path):
            writer.lose()
