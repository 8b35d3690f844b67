"""The folder of a file on a PC; boards do not import it."""

import os


def sync_folder(path):
    """The new name of a file is on the medium, too."""
    try:
        number = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
    except OSError:
        return  # Windows opens no folders
    try:
        os.fsync(number)
    finally:
        os.close(number)
