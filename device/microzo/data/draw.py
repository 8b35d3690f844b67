"""Which samples a run uses, and in which order: pure functions of the seed (SPEC.md, section
6)."""

from array import array

_POOL = 4096  # samples looked at for a balanced draw
# the `a` of derive; steps of a stage use the numbers below
DRAW = 0x8000001
ORDER = 0x8000002
POOL = 0x8000003
STAGE = 0x8000004
GAUSS = 0x8000005
DITHER = 0x8000006


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
            raise ValueError(
                "sample %d has label %s, the model has classes 0..%d" % (i, label, classes - 1)
            )
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


class Order:
    """Endless passes over 0..n-1, every pass shuffled anew. at(g): the g-th sample, g from 0."""

    def __init__(self, k, n, seed):
        self._k = k
        self._n = n
        self._seed = seed
        self._epoch = -1
        self._idx = array("H", bytearray(2 * n))

    def at(self, g):
        epoch = g // self._n
        if epoch != self._epoch:
            self._epoch = -1  # an interrupted shuffle is done again
            idx = self._idx
            for i in range(self._n):
                idx[i] = i
            self._k.shuffle(self._k.derive(self._seed, ORDER, epoch), idx)
            self._epoch = epoch
        return self._idx[g % self._n]


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
