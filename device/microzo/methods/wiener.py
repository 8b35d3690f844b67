"""The filters of refilter, in integers of any length (SPEC.md, 1.11)."""

from ..board.integers import int8, int32
from ..journal import record
from ..net import words as L

_PEAK = 32512  # of a master


def solve(model, sums, products, a, n, ridge, alpha, out):
    """Fills out, int16[C*K], with masters of the first operator.

    sums int32[K], products int32[K*(K+1)/2]: over n patches, lower triangle by rows. a: room,
    int64[K*(K+1)/2]. ridge: halvings of the mean variance of clean values, which is added to both
    covariances. alpha: 256ths of the way.
    """
    k = len(sums)
    blob = memoryview(model.blob)
    clean = model.plan[L.COV_OFF]
    at = 0
    trace = 0
    for i in range(k):
        for j in range(i + 1):
            a[at] = ((n * products[at] - sums[i] * sums[j]) << 8) // (n * n)
            at += 1
        trace += int32(blob, clean + 4 * (at - 1))
    least = max(1, trace // k >> ridge)
    for i in range(k):
        a[_at(i, i)] += least
    _factor(a, k, least)
    o = L.HEADER_WORDS
    start = model.plan[o + L.W_OFF]
    for c in range(model.plan[o + L.OUT_C]):
        row = [int8(blob[start + c * k + j]) for j in range(k)]
        best = _times(blob, clean, row, least)
        _divide(a, best, k)
        for i in range(k):
            best[i] = (row[i] << 16) + ((best[i] - (row[i] << 16)) * alpha >> 8)
        _store(best, row, out, 2 * c * k)


def _at(i, j):
    return i * (i + 1) // 2 + j


def _factor(a, k, least):
    """a = L D L^T in place: D on the diagonal, L in Q16 below it."""
    for p in range(k):
        d = a[_at(p, p)]
        lost = d < least  # by rounding alone: what is left of the column means nothing
        if lost:
            a[_at(p, p)] = d = least
        for i in range(k - 1, p, -1):
            f = 0 if lost else (a[_at(i, p)] << 16) // d
            for j in range(p + 1, i + 1):
                a[_at(i, j)] -= f * a[_at(j, p)] >> 16
            a[_at(i, p)] = f


def _times(blob, clean, row, least):
    """(C0 + ridge) times a row."""
    k = len(row)
    product = [least * x for x in row]
    at = clean
    for i in range(k):
        for j in range(i + 1):
            c = int32(blob, at)
            at += 4
            product[i] += c * row[j]
            if j < i:
                product[j] += c * row[i]
    return product


def _divide(a, b, k):
    """b becomes (L D L^T)^-1 b, in Q16."""
    for i in range(k):
        for j in range(i):
            b[i] -= a[_at(i, j)] * b[j] >> 16
    for i in range(k):
        b[i] = (b[i] << 16) // a[_at(i, i)]
    for i in range(k - 1, -1, -1):
        for j in range(i + 1, k):
            b[i] -= a[_at(j, i)] * b[j] >> 16


def _store(best, row, out, at):
    """A row as long as masters allow; its multiplier is realign's affair."""
    peak = max(max(best), -min(best))
    if peak == 0:  # as it was
        best = row
        peak = 127
    for x in best:
        value = (2 * x * _PEAK + peak) // (2 * peak)
        record.put16(out, at, value & 65535)
        at += 2
