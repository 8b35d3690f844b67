"""In which order a stage sees its samples, and the streams of random numbers beside the steps'
own (SPEC.md, section 6)."""

from array import array

# the `a` of derive; steps of a stage use the numbers below
DRAW = 0x8000001
ORDER = 0x8000002
POOL = 0x8000003
STAGE = 0x8000004
GAUSS = 0x8000005
DITHER = 0x8000006


class Order:
    """Endless passes over 0..n-1, every pass shuffled anew. at(g): the g-th sample, g from 0."""

    def __init__(self, k, n, seed):
        self._k = k
        self._n = n
        self._seed = seed
        self._epoch = -1
        self._idx = array("H", bytearray(2 * n))

    def at(self, g):
        if g // self._n != self._epoch:
            self._shuffle(g // self._n)
        return self._idx[g % self._n]

    def _shuffle(self, epoch):
        self._epoch = -1  # an interrupted shuffle is done again
        idx = self._idx
        for i in range(self._n):
            idx[i] = i
        self._k.shuffle(self._k.derive(self._seed, ORDER, epoch), idx)
        self._epoch = epoch
