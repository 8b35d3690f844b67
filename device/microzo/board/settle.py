"""Finishes what a power cut left of a file that was replaced (files.py); imported for that alone.

A board's FAT has no rename that replaces: between removing the old file and renaming the new one
there would be none, and a rename that is cut can leave two names of the same clusters. So the
temporary file is copied, and stays until the copy is whole.
"""

from . import files


def copy(temporary, path):
    """The content of a whole temporary file under the name `path`."""
    block = bytearray(512)
    view = memoryview(block)
    try:
        with open(temporary, "rb") as old, open(path, "wb") as new:
            n = old.readinto(block)
            while n:
                new.write(view[:n])
                n = old.readinto(block)
            files.sync(new)
    except OSError as e:
        if e.args and e.args[0] == 28:
            raise OSError(
                "no room for %s in its file system, delete files there: it is in %s until then"
                % (path, temporary)
            )
        raise
    files.remove(temporary)


def settle(path, worth):
    """Under `path` is the file there was or the one that was to replace it, and no temporary one.

    worth(path): how much of a file is whole, 0 if it is none or cannot be read.
    """
    if worth(files.temporary(path)) > worth(path):
        files.replace(path)
    else:
        files.remove(files.temporary(path))
