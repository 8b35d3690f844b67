"""Fixed-point arithmetic and random draws that give the same bits on every machine.

A sine, a filter or a matrix product in floating point may differ in its last bit between two
processors: vector units and compilers choose other formulas, fused operations and orders of sums.
Here numbers are integers: arrays are int64 in Q16 (ONE is 1), functions work on Python's integers
or on ``decimal``, which rounds correctly everywhere. A sum of integers has no order.
"""

import decimal
import functools
import math

import numpy as np

ONE = 1 << 16
PI = 884279719003555  # Q48
TAIL = 1 << 48  # relative to its mode, below 1 / TAIL a Poisson distribution ends


def fixed(value):
    """Q16 of a float: the product by a power of two is exact."""
    return round(value * ONE)


def divide(a, n):
    """a / n for positive n, rounded, half up."""
    return (2 * a + n) // (2 * n)


def sine(angle, bits=16):
    """Of radians in Q48, at most some turns, rounded to Q ``bits``: Taylor's series."""
    term = total = angle
    n = 1
    while term:
        term = -(term * angle * angle >> 96) // ((n + 1) * (n + 2))
        total, n = total + term, n + 2
    return divide(total, 1 << (48 - bits))


def cosine(angle, bits=16):
    """As ``sine``."""
    return sine(angle + PI // 2, bits)


def radians(degrees):
    """Q48 of degrees in Q16."""
    return degrees * PI // (180 * ONE)


class Draw:
    """Random integers from PCG64's 64-bit words, the stream that NumPy does not change."""

    def __init__(self, *key):
        self._words = np.random.PCG64(key).random_raw

    def words(self, shape):
        """uint32 as int64."""
        return (self._words(shape) >> np.uint64(32)).astype(np.int64)

    def between(self, low, high, shape=None):
        """Uniform integers from low to high, both included; without a shape one Python int."""
        value = low + (self.words(shape or 1) * (high - low + 1) >> 32)
        return value if shape else int(value[0])

    def signs(self, shape=None):
        """-1 or 1."""
        return 2 * self.between(0, 1, shape) - 1

    def normal(self, shape):
        """Q16 of about a standard normal: the sum of 12 uniform 16-bit numbers has deviation 1."""
        twelve = self._words((*shape, 3)).view(np.uint16)
        return twelve.sum(-1, dtype=np.int64) - 6 * (ONE - 1)

    def poisson(self, level, photons):
        """Counts of so many photons at level 255, for levels 0 to 255."""
        limits, begins = _poisson(photons)
        at = np.searchsorted(limits, (level << 32) + self.words(level.shape), side="right")
        return at + begins[level]


@functools.lru_cache(maxsize=8)
def _poisson(photons):
    """All 256 distributions behind one another: (level << 32) + P(count <= k) in Q32, sorted, and
    what makes a place in them a count."""
    limits, begins = [], []
    for level in range(256):
        first, weights = _poisson_weights(level * photons, 255)
        begins.append(first - len(limits))
        total, running = sum(weights), 0
        for weight in weights:
            running += weight
            limits.append((level << 32) + (running << 32) // total)
    return np.array(limits, np.int64), np.array(begins, np.int64)


def _poisson_weights(mean, scale):
    """(first count, weights of it and those after it) for the mean ``mean / scale``."""
    mode = mean // scale
    down, up = [TAIL], [TAIL]
    while down[-1] and mode - len(down) >= 0:
        down.append(down[-1] * scale * (mode - len(down) + 1) // mean)
    while up[-1]:
        up.append(up[-1] * mean // (scale * (mode + len(up))))
    return mode - len(down) + 1, down[:0:-1] + up


@functools.lru_cache(maxsize=64)
def _smoothing(n, sigma, mode):
    """(n x n weights, their sum in a row) of a Gaussian filter, cut off at 4 deviations.

    mode: ``wrap`` around, or ``reflect`` at the edges of the pixels.
    """
    reach = int(4 * sigma + 0.5)
    matrix, total = np.zeros((n, n), np.int64), 0
    for k in range(-reach, reach + 1):
        with decimal.localcontext(decimal.Context(prec=28)):
            weight = round((-k * k / (2 * decimal.Decimal(sigma) ** 2)).exp() * (1 << 20))
        total += weight
        for i in range(n):
            j = (i + k) % n if mode == "wrap" else (i + k) % (2 * n)
            matrix[i, min(j, 2 * n - 1 - j)] += weight
    return matrix, total


def smooth(x, sigma, mode):
    """Gaussian filter of an image (h, w) or (h, w, c) along its first two axes."""
    for _ in range(2):
        matrix, total = _smoothing(len(x), sigma, mode)
        x = divide(np.tensordot(matrix, x, 1), total).swapaxes(0, 1)
    return x


def disc(radius):
    """Weights of a disc, its edge weighted by coverage."""
    reach = math.ceil(radius)
    row, column = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    squares = (row**2 + column**2).reshape(-1).tolist()
    distance = np.array([math.isqrt(square << 32) for square in squares]).reshape(row.shape)
    return np.clip(fixed(radius + 0.5) - distance, 0, ONE)


def convolve(x, kernel, mode):
    """Mean of an image (h, w, c) under a symmetric kernel; mode: as ``numpy.pad``."""
    rows, columns = (n // 2 for n in kernel.shape)
    padded = np.pad(x, ((rows, rows), (columns, columns), (0, 0)), mode)
    view = np.lib.stride_tricks.sliding_window_view(padded, kernel.shape, axis=(0, 1))
    return divide(np.tensordot(view, kernel, 2), int(kernel.sum()))


def sample(x, row, column):
    """An image (h, w, c) at positions in Q16, linear between pixels, edges repeated."""
    low, high, part = zip(*(_between(*pair) for pair in zip((row, column), x.shape)))
    right = part[1][..., None]
    upper = x[low[0], low[1]] * (ONE - right) + x[low[0], high[1]] * right
    lower = x[high[0], low[1]] * (ONE - right) + x[high[0], high[1]] * right
    down = part[0][..., None]
    return (upper * (ONE - down) + lower * down + (1 << 31)) >> 32


def _between(position, n):
    """(pixel before, pixel behind, Q16 part of the way) along an axis of n pixels."""
    position = np.clip(position, 0, (n - 1) * ONE)
    low = position >> 16
    return low, np.minimum(low + 1, n - 1), position & (ONE - 1)


def rotate(x, degrees):
    """An image turned about its centre by degrees in Q16, black outside."""
    angle = radians(degrees)
    sin, cos = sine(angle), cosine(angle)
    h, w = x.shape[:2]
    row, column = np.mgrid[1 - h : h : 2, 1 - w : w : 2]  # twice the distance from the centre
    source_row = (cos * row + sin * column + (h - 1) * ONE) >> 1
    source_column = (cos * column - sin * row + (w - 1) * ONE) >> 1
    inside = (source_row >= 0) & (source_row <= (h - 1) * ONE)
    inside &= (source_column >= 0) & (source_column <= (w - 1) * ONE)
    return sample(x, source_row, source_column) * inside[..., None]


def shift(x, rows, columns):
    """An image moved by whole pixels, black where nothing came."""
    h, w = x.shape[:2]
    out = np.zeros_like(x)
    into = (slice(max(d, 0), max(n + min(d, 0), 0)) for d, n in ((rows, h), (columns, w)))
    source = (slice(max(-d, 0), max(n - max(d, 0), 0)) for d, n in ((rows, h), (columns, w)))
    out[tuple(into)] = x[tuple(source)]
    return out


def clouds(draw, shape):
    """Q16 from 0 to 1: smooth random clouds of three sizes, the same far apart."""
    total = sum(scale * smooth(draw.normal(shape), scale, "wrap") for scale in (2, 4, 8))
    low, high = int(total.min()), int(total.max())
    return ((total - low) << 16) // max(high - low, 1)
