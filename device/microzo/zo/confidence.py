"""What the logits say without a label: entropy of a sample, information of many.

Integers only: boards and hosts decide alike.
"""

from array import array

from ..net import words as L

_MOST = 65535  # of -log p, 16 nats in Q12: p is 0 beyond


class Confidence:
    """take() after a forward sets `entropy` (Q12 nats) and counts the sample in."""

    def __init__(self, model):
        self._model = model
        self._share = array("i", bytearray(4 * model.classes))  # p, Q15
        self._sums = array("i", bytearray(4 * model.classes))
        self._at = 0
        self.clear()

    def clear(self):
        self.entropy = self.total = self.count = 0
        for c in range(len(self._sums)):
            self._sums[c] = 0

    def take(self):
        m = self._model
        share = self._share
        loss = m.k.loss(m.plan, m.arena, 0, share)
        share[0] += 32768
        self._at = m.plan[L.LOGITS_OFF]
        first = self._logit(0)
        entropy = 0
        for c in range(m.classes):
            minus_log = loss + first - self._logit(c)
            entropy += (share[c] >> 2) * (minus_log if minus_log < _MOST else _MOST) >> 6
            self._sums[c] += share[c]
        self.entropy = entropy >> 7
        self.total += self.entropy >> 4
        self.count += 1

    def _logit(self, c):
        """Within 2^20: three octets hold it."""
        a = self._model.arena
        at = self._at + 4 * c
        v = (a[at] & 255) | (a[at + 1] & 255) << 8 | (a[at + 2] & 255) << 16
        return v - 0x1000000 if v & 0x800000 else v

    def information(self):
        """Entropy of the mean prediction less the mean entropy, Q8 nats: how much a prediction
        says of its sample. 0 if all samples are told the same."""
        mean = 0
        for c in range(len(self._sums)):
            p = self._sums[c] // self.count
            if p > 0:
                mean += p * (15 * 256 - _log2(p)) >> 8
        # log2 to nats: * 177 / 256
        return max(0, (mean * 177 >> 15) - self.total // self.count)


def _log2(n):
    """Q8, by squaring."""
    whole = 0
    while n >> whole + 1:
        whole += 1
    x = n << 14 >> whole  # [1, 2), Q14
    part = 0
    for _ in range(8):
        x = x * x >> 14
        part <<= 1
        if x >> 15:
            x >>= 1
            part |= 1
    return whole << 8 | part
