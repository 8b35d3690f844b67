"""Which samples a run uses: pure functions of the seed (SPEC.md, section 6)."""

from array import array

from .. import misfit
from .order import DRAW, POOL

_POOL = 4096  # samples looked at for a balanced draw


def labels_of(data, buf):
    """True if the source has labels: its `labelled`, or the label of sample 0. buf: of a
    sample."""
    known = getattr(data, "labelled", None)
    if known is not None:
        return known
    label = data.label(0) if hasattr(data, "label") else data.read_into(0, buf)
    return label is not None and label >= 0


def draw(k, data, n, classes, seed, buf):
    """(index, label) of min(n, len(data)) samples as array('H'); label is None without labels.

    With labels every prefix of the draw is as class-balanced as the data allow.
    buf: a buffer of one sample, for sources that give labels only with samples.
    """
    pool = _pool(k, len(data), seed)
    k.shuffle(k.derive(seed, DRAW, 0), pool)
    n = min(n, len(pool))
    if not labels_of(data, buf):
        return array("H", (pool[i] for i in range(n))), None
    read = getattr(data, "label", None)
    found = array("H")
    for i in pool:
        label = read(i) if read else data.read_into(i, buf)
        if label is None or not 0 <= label < classes:
            raise misfit("of_label", i, label, classes)
        found.append(label)
    return _round_robin(pool, found, n, classes)


def _pool(k, total, seed):
    """Up to _POOL indices without repetition, one from each of _POOL equal parts of larger
    data."""
    pool = array("H")
    parts = min(total, _POOL)
    for j in range(parts):
        low = j * total // parts
        high = (j + 1) * total // parts
        pool.append(low + k.derive(seed, POOL, j) % (high - low))
    return pool


def _round_robin(pool, found, n, classes):
    """One sample of each class in turn, classes that are used up are passed over."""
    index = array("H")
    label = array("H")
    at = [0] * classes
    while len(index) < n:
        for c in range(classes):
            i = at[c]
            while i < len(pool) and found[i] != c:
                i += 1
            at[c] = i + 1
            if i < len(pool) and len(index) < n:
                index.append(pool[i])
                label.append(c)
    return index, label


def fingerprint(k, data, buf):
    """30-bit hash of the number of samples and of up to 64 of them, evenly spaced, with their
    labels."""
    n = len(data)
    m = min(n, 64)
    sums = array("i", (n,))
    for j in range(m):
        label = data.read_into(j * n // m, buf)
        sums.append(k.crc32(buf, 0, len(buf)))
        sums.append(-1 if label is None else label)
    return k.crc32(sums, 0, 4 * len(sums))
