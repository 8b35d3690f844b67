"""Files that a run writes are apart from each other and from those it reads. A board forgets this
code at once."""

from ..board.same import identity, plain

# What a writer has beside its file: a journal its checkpoints (store.py), every one its copy.
_BESIDE = {
    "journal": ("", ".ck0", ".ck1", ".mark"),
    "adapted": ("",),
}
_COPY = ".tmp"


def check_apart(*entries):
    """entries: (what it is, path or None); first those that are written: cache_file, adapted,
    journal. ValueError if one of them is also another file, by any spelling."""
    names = [(what, path, _files(what, path)) for what, path in entries if path]
    for i in range(len(names)):
        what, path, written = names[i]
        if what not in _BESIDE and what != "cache_file":
            return
        for other, name, files in names[i + 1 :]:
            if any(_same(one, two) for one in written for two in files):
                raise ValueError(
                    "%s %s would destroy the %s %s: give it another name"
                    % (what, path, other, name)
                )


def _files(what, path):
    """(plain spelling, identity or None) of the files that go with a name."""
    if isinstance(path, (int, bytes)):
        raise TypeError("%s is the name of a file, not %r" % (what, path))
    path = str(path)
    names = [path]
    if what in _BESIDE:
        names = [path + end + copy for end in _BESIDE[what] for copy in ("", _COPY)]
    return [(plain(name), identity(name)) for name in names]


def _same(one, two):
    return one[0] == two[0] or one[1] is not None and one[1] == two[1]
