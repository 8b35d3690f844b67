"""CIFAR-10-C-like corruptions of 32x32 colour images: 18 kinds, severities 1 to 5, seeded.

Used as ``corruptions`` is: ``apply(name, images, severity, seed)``, uint8 NxHxWxC in and out,
image i depends only on (name, severity, seed, i). The kinds are those of Hendrycks and Dietterich
(arXiv 1903.12261), written anew: results are not comparable with published CIFAR-10-C figures.
Frost, snow and glass blur are left out; stripe, rotate and translate are not in CIFAR-10-C.

TUNING settings may be looked at while choosing step sizes or directions; REPORTING settings are
for published figures only. ``shot`` and ``impulse`` are noise as ``gauss`` is, which was tuned on.
"""

import functools
import math

import numpy as np

from . import corruptions, exact

# One parameter per severity; the functions below say what it means.
LEVELS = {
    "gauss": (0.04, 0.06, 0.08, 0.10, 0.13),
    "shot": (400, 200, 110, 65, 40),
    "speckle": (0.08, 0.14, 0.20, 0.27, 0.36),
    "impulse": (0.01, 0.02, 0.035, 0.055, 0.08),
    "defocus": (0.7, 0.9, 1.1, 1.35, 1.6),
    "gauss_blur": (0.45, 0.6, 0.75, 0.9, 1.1),
    "motion": (2.0, 3.0, 4.0, 5.0, 6.5),
    "zoom": (0.06, 0.11, 0.16, 0.21, 0.27),
    "fog": (0.25, 0.38, 0.5, 0.62, 0.75),
    "brightness": (0.06, 0.12, 0.18, 0.25, 0.32),
    "contrast": (0.35, 0.5, 0.62, 0.72, 0.82),
    "saturate": ((0.6, 0.0), (0.35, 0.0), (1.6, 0.03), (2.2, 0.06), (3.0, 0.1)),
    "elastic": (0.6, 0.9, 1.2, 1.6, 2.1),
    "pixelate": (24, 21, 18, 16, 13),
    "jpeg": (60, 40, 25, 17, 12),
    "stripe": (0.02, 0.035, 0.05, 0.07, 0.09),
    "rotate": ((2, 5), (4, 8), (6, 12), (8, 16), (10, 20)),
    "translate": ((1, 1), (1, 2), (2, 3), (3, 5), (4, 6)),
}
NAMES = tuple(LEVELS)
_TUNED = ("gauss", "contrast", "pixelate", "speckle")
TUNING = tuple((name, 5) for name in _TUNED)
REPORTING = tuple((name, 5) for name in NAMES if name not in _TUNED)
is_geometric = corruptions.is_geometric

# Quantization tables of JPEG's annex K at quality 50: luminance, chrominance.
_LUMA = np.array(
    [
        [16, 11, 10, 16, 24, 40, 51, 61], [12, 12, 14, 19, 26, 58, 60, 55],
        [14, 13, 16, 24, 40, 57, 69, 56], [14, 17, 22, 29, 51, 87, 80, 62],
        [18, 22, 37, 56, 68, 109, 103, 77], [24, 35, 55, 64, 81, 104, 113, 92],
        [49, 64, 78, 87, 103, 121, 120, 101], [72, 92, 95, 98, 112, 100, 103, 99],
    ]
)  # fmt: skip
_CHROMA = np.full((8, 8), 99)
_CHROMA[:4, :4] = [[17, 18, 24, 47], [18, 21, 26, 66], [24, 26, 56, 99], [47, 66, 99, 99]]
# JPEG's luminance and two chrominances of red, green, blue, and the way back, in Q16.
_YCC = np.array([[19595, 38470, 7471], [-11058, -21710, 32768], [32768, -27439, -5329]])
_RGB = np.array([[65536, 0, 91881], [65536, -22553, -46802], [65536, 116130, 0]])


def apply(name, images, severity, seed):
    """Corrupt uint8 colour images NxHxWx3; returns a new uint8 array of the same shape."""
    if np.ndim(images) == 4 and np.shape(images)[3] != 3:
        raise ValueError(f"images have {np.shape(images)[3]} channels: give colour, NxHxWx3")
    return corruptions.apply_with(_FUNCTIONS, LEVELS, name, images, severity, seed)


def _gauss(x, sigma, draw):
    return corruptions.noisy(x, sigma, draw.normal(x.shape))


def _shot(x, photons, draw):
    """Poisson noise of so many photons at full brightness."""
    return exact.divide(draw.poisson(x >> 16, photons) * (255 * exact.ONE), photons)


def _speckle(x, sigma, draw):
    """Noise in proportion to brightness."""
    return x + ((x * exact.fixed(sigma) >> 16) * draw.normal(x.shape) >> 16)


def _impulse(x, share, draw):
    """A share of values, each channel for itself, becomes 0 or 1."""
    return corruptions.salted(x, share, draw, x.shape)


def _defocus(x, radius, draw):
    """Mean over a disc, its edge weighted by coverage."""
    return exact.convolve(x, exact.disc(radius), "symmetric")


def _gauss_blur(x, sigma, draw):
    return exact.smooth(x, sigma, "reflect")


def _motion(x, length, draw):
    """Mean along a line of so many pixels in any direction."""
    angle, reach = exact.PI * draw.between(0, exact.ONE - 1) >> 16, math.ceil(length / 2)
    sin, cos = exact.sine(angle), exact.cosine(angle)
    row, column = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    along, across = row * sin + column * cos, row * cos - column * sin
    inside = np.clip(exact.fixed(length / 2 + 0.5) - np.abs(along), 0, exact.ONE)
    beside = np.clip(exact.ONE - np.abs(across), 0, exact.ONE)
    return exact.convolve(x, inside * beside >> 16, "symmetric")


def _zoom(x, reach, draw):
    """Mean of the image at six magnifications from 1 to 1 + reach."""
    return exact.divide(sum(_magnified(x, exact.fixed(1 + reach * i / 5)) for i in range(6)), 6)


def _magnified(x, factor):
    """By a factor in Q16 about the centre."""
    h, w = x.shape[:2]
    row, column = np.mgrid[1 - h : h : 2, 1 - w : w : 2]  # twice the distance from the centre
    row = ((row << 32) // factor + (h - 1) * exact.ONE) >> 1
    return exact.sample(x, row, ((column << 32) // factor + (w - 1) * exact.ONE) >> 1)


def _fog(x, density, draw):
    """Blend with smooth random clouds of brightness 0.5 to 1."""
    return corruptions.fogged(x, density, 0.5, draw)


def _brightness(x, offset, draw):
    return x + corruptions.grey(offset)


def _contrast(x, loss, draw):
    """Values move towards each channel's mean."""
    mean = exact.divide(x.sum((0, 1)), x.shape[0] * x.shape[1])
    return corruptions.blend(x, mean, loss)


def _saturate(x, level, draw):
    """Distance from grey times a factor, then an offset."""
    factor, offset = level
    middle = (x @ _YCC[0] >> 16)[..., None]
    return middle + ((x - middle) * exact.fixed(factor) >> 16) + corruptions.grey(offset)


def _elastic(x, amplitude, draw):
    """Smooth random displacements of about so many pixels."""
    places = []
    for place in np.mgrid[: x.shape[0], : x.shape[1]]:
        move = exact.smooth(draw.normal(place.shape), 2.5, "reflect")
        around = move - exact.divide(int(move.sum()), move.size)
        deviation = max(1, math.isqrt(int((around**2).sum()) // move.size))
        places.append((place << 16) + exact.divide(exact.fixed(amplitude) * move, deviation))
    return exact.sample(x, *places)


def _pixelate(x, size, draw):
    """Box means on a size x size grid (of a 32 x 32 image), each spread over its box."""
    h, w = x.shape[:2]
    rows, columns = (_boxes(n, max(1, round(n * size / 32))) for n in (h, w))
    small = np.tensordot(columns, np.tensordot(rows, x, 1), (1, 1)).swapaxes(0, 1)
    row, column = ((2 * np.arange(n) + 1) * m // (2 * n) for n, m in zip((h, w), small.shape))
    return exact.divide(small, h * w)[row][:, column]


def _boxes(n, m):
    """(m, n): how much of each of n cells a box of n/m cells takes, in m-ths."""
    edges, cells = np.arange(m + 1) * n, np.arange(n) * m
    low = np.maximum(edges[:-1, None], cells)
    high = np.minimum(edges[1:, None], cells + m)
    return np.clip(high - low, 0, None)


def _jpeg(x, quality, draw):
    """Quantization of 8x8 cosine blocks at a quality; colour at half the resolution."""
    scale = 5000 // quality if quality < 50 else 200 - 2 * quality
    luma, blue, red = np.moveaxis(x @ _YCC.T >> 16, 2, 0)
    h, w = luma.shape
    middle = 128 * exact.ONE
    planes = [_blocks(luma - middle, np.maximum(1, _LUMA * scale // 100)) + middle]
    for plane in (blue, red):
        half = np.pad(plane, ((0, h % 2), (0, w % 2)), mode="edge")
        half = half.reshape(half.shape[0] // 2, 2, -1, 2).sum((1, 3)) >> 2
        half = _blocks(half, np.maximum(1, _CHROMA * scale // 100))
        planes.append(half.repeat(2, 0).repeat(2, 1)[:h, :w])
    return np.stack(planes, 2) @ _RGB.T >> 16


def _blocks(plane, steps):
    h, w = plane.shape
    padded = np.pad(plane, ((0, -h % 8), (0, -w % 8)), mode="edge")
    tiles = padded.reshape(padded.shape[0] // 8, 8, -1, 8).swapaxes(1, 2)
    waves = _cosines()
    tiles = _both(tiles, waves.T)
    tiles = _both(exact.divide(tiles, steps * exact.ONE) * (steps * exact.ONE), waves)
    return tiles.swapaxes(1, 2).reshape(padded.shape)[:h, :w]


def _both(tiles, matrix):
    """matrix.T @ tile @ matrix, the matrix in Q24."""
    tiles = exact.divide(tiles @ matrix, 1 << 24)
    return exact.divide(matrix.T @ tiles, 1 << 24)


@functools.cache
def _cosines():
    """The orthonormal cosine transform of 8 values, one wave a row, Q24."""
    waves = [[exact.cosine((2 * i + 1) * k * exact.PI // 16, 23) for i in range(8)]
             for k in range(8)]  # fmt: skip
    waves[0] = [math.isqrt(1 << 45)] * 8  # 1 / sqrt(8)
    return np.array(waves)


def _stripe(x, amplitude, draw):
    """Every sensor column has its own offset."""
    return corruptions.noisy(x, amplitude, draw.normal((1, x.shape[1], 1)))


def _rotate(x, angles, draw):
    """By an angle in the given range of degrees, either way; black corners."""
    low, high = (angle * exact.ONE for angle in angles)
    return exact.rotate(x, draw.between(low, high) * draw.signs())


def _translate(x, reach, draw):
    """By a whole number of pixels in the given range, either way, in both axes."""
    return exact.shift(x, *(draw.between(*reach, (2,)) * draw.signs((2,))).tolist())


_FUNCTIONS = {name: globals()[f"_{name}"] for name in NAMES}
