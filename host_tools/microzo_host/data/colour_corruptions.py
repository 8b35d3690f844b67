"""CIFAR-10-C-like corruptions of 32x32 colour images: 18 kinds, severities 1 to 5, seeded.

Used as ``corruptions`` is: ``apply(name, images, severity, seed)``, uint8 NxHxWxC in and out,
image i depends only on (name, severity, seed, i). The kinds are those of Hendrycks and Dietterich
(arXiv 1903.12261), written anew: results are not comparable with published CIFAR-10-C figures.
Frost, snow and glass blur are left out; stripe, rotate and translate are not in CIFAR-10-C.

TUNING settings may be looked at while choosing step sizes or directions; REPORTING settings are
for published figures only. ``shot`` and ``impulse`` are noise as ``gauss`` is, which was tuned on.
"""

import numpy as np
import scipy.fft
import scipy.ndimage

from . import corruptions

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
_YCC = np.array([[0.299, 0.587, 0.114], [-0.168736, -0.331264, 0.5], [0.5, -0.418688, -0.081312]])


def apply(name, images, severity, seed):
    """Corrupt uint8 colour images NxHxWx3; returns a new uint8 array of the same shape."""
    if np.ndim(images) == 4 and np.shape(images)[3] != 3:
        raise ValueError(f"images have {np.shape(images)[3]} channels: give colour, NxHxWx3")
    return corruptions.apply_with(_FUNCTIONS, LEVELS, name, images, severity, seed)


def _gauss(x, sigma, rng):
    return x + sigma * rng.standard_normal(x.shape)


def _shot(x, photons, rng):
    """Poisson noise of so many photons at full brightness."""
    return rng.poisson(x * photons) / photons


def _speckle(x, sigma, rng):
    """Noise in proportion to brightness."""
    return x + x * sigma * rng.standard_normal(x.shape)


def _impulse(x, share, rng):
    """A share of values, each channel for itself, becomes 0 or 1."""
    draw = rng.random(x.shape)
    return np.where(draw < share / 2, 0.0, np.where(draw < share, 1.0, x))


def _convolve(x, kernel):
    return scipy.ndimage.convolve(x, (kernel / kernel.sum())[..., None], mode="reflect")


def _defocus(x, radius, rng):
    """Mean over a disc, its edge weighted by coverage."""
    reach = int(np.ceil(radius))
    distance = np.hypot(*np.mgrid[-reach : reach + 1, -reach : reach + 1])
    return _convolve(x, np.clip(radius + 0.5 - distance, 0.0, 1.0))


def _gauss_blur(x, sigma, rng):
    return scipy.ndimage.gaussian_filter(x, (sigma, sigma, 0))


def _motion(x, length, rng):
    """Mean along a line of so many pixels in any direction."""
    angle, reach = rng.uniform(0, np.pi), int(np.ceil(length / 2))
    row, column = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    along = row * np.sin(angle) + column * np.cos(angle)
    across = row * np.cos(angle) - column * np.sin(angle)
    inside = np.clip(length / 2 + 0.5 - np.abs(along), 0, 1)
    return _convolve(x, inside * np.clip(1 - np.abs(across), 0, 1))


def _zoom(x, reach, rng):
    """Mean of the image at six magnifications from 1 to 1 + reach."""
    return np.mean([_magnified(x, 1 + reach * i / 5) for i in range(6)], axis=0)


def _magnified(x, factor):
    centre = (np.array(x.shape[:2]) - 1) / 2
    row, column = np.mgrid[: x.shape[0], : x.shape[1]]
    return _sample(x, (row - centre[0]) / factor + centre[0],
                   (column - centre[1]) / factor + centre[1])  # fmt: skip


def _sample(x, row, column):
    """The image at real-valued positions, linear between pixels, edges repeated."""
    return np.stack(
        [
            scipy.ndimage.map_coordinates(x[..., c], (row, column), order=1, mode="nearest")
            for c in range(x.shape[2])
        ],
        axis=2,
    )


def _fog(x, density, rng):
    """Blend with smooth random clouds of brightness 0.5 to 1."""
    cloud = sum(
        scale * scipy.ndimage.gaussian_filter(rng.standard_normal(x.shape[:2]), scale, mode="wrap")
        for scale in (2.0, 4.0, 8.0)
    )
    cloud = 0.5 + 0.5 * (cloud - cloud.min()) / (cloud.max() - cloud.min())
    return x * (1.0 - density) + density * cloud[..., None]


def _brightness(x, offset, rng):
    return x + offset


def _contrast(x, loss, rng):
    """Values move towards each channel's mean."""
    mean = x.mean(axis=(0, 1))
    return mean + (x - mean) * (1.0 - loss)


def _saturate(x, level, rng):
    """Distance from grey times a factor, then an offset."""
    factor, offset = level
    grey = x @ _YCC[0]
    return grey[..., None] + (x - grey[..., None]) * factor + offset


def _elastic(x, amplitude, rng):
    """Smooth random displacements of about so many pixels."""
    row, column = np.mgrid[: x.shape[0], : x.shape[1]].astype(float)
    moves = [scipy.ndimage.gaussian_filter(rng.standard_normal(row.shape), 2.5) for _ in range(2)]
    dy, dx = (amplitude * move / move.std() for move in moves)
    return _sample(x, row + dy, column + dx)


def _pixelate(x, size, rng):
    """Box means on a size x size grid (of a 32 x 32 image), each spread over its box."""
    rows, columns = (_boxes(n, max(1, round(n * size / 32))) for n in x.shape[:2])
    small = np.tensordot(columns, np.tensordot(rows, x, 1), (1, 1)).swapaxes(0, 1)
    row, column = ((2 * np.arange(n) + 1) * m // (2 * n) for n, m in zip(x.shape, small.shape[:2]))
    return small[row][:, column]


def _boxes(n, m):
    """(m, n): how much of each of n cells a box of n/m cells takes."""
    edges, cells = np.arange(m + 1) * n / m, np.arange(n)
    low = np.maximum(edges[:-1, None], cells)
    high = np.minimum(edges[1:, None], cells + 1)
    return np.clip(high - low, 0, None) * m / n


def _jpeg(x, quality, rng):
    """Quantization of 8x8 cosine blocks at a quality; colour at half the resolution."""
    scale = 5000 / quality if quality < 50 else 200 - 2 * quality
    luma, blue, red = np.moveaxis(x @ _YCC.T * 255, 2, 0)
    h, w = luma.shape
    planes = [_blocks(luma - 128, np.maximum(1, _LUMA * scale // 100)) + 128]
    for plane in (blue, red):
        half = np.pad(plane, ((0, h % 2), (0, w % 2)), mode="edge")
        half = half.reshape(half.shape[0] // 2, 2, -1, 2).mean(axis=(1, 3))
        half = _blocks(half, np.maximum(1, _CHROMA * scale // 100))
        planes.append(half.repeat(2, 0).repeat(2, 1)[:h, :w])
    return np.stack(planes, 2) @ np.linalg.inv(_YCC).T / 255


def _blocks(plane, steps):
    h, w = plane.shape
    padded = np.pad(plane, ((0, -h % 8), (0, -w % 8)), mode="edge")
    tiles = padded.reshape(padded.shape[0] // 8, 8, -1, 8).swapaxes(1, 2)
    tiles = scipy.fft.dctn(tiles, axes=(2, 3), norm="ortho")
    tiles = scipy.fft.idctn(np.rint(tiles / steps) * steps, axes=(2, 3), norm="ortho")
    return tiles.swapaxes(1, 2).reshape(padded.shape)[:h, :w]


def _stripe(x, amplitude, rng):
    """Every sensor column has its own offset."""
    return x + amplitude * rng.standard_normal((1, x.shape[1], 1))


def _rotate(x, angles, rng):
    """By an angle in the given range of degrees, either way; black corners."""
    angle = rng.uniform(*angles) * rng.choice((-1, 1))
    return scipy.ndimage.rotate(x, angle, axes=(0, 1), reshape=False, order=1)


def _translate(x, reach, rng):
    """By a whole number of pixels in the given range, either way, in both axes."""
    shift = rng.integers(reach[0], reach[1] + 1, 2) * rng.choice((-1, 1), 2)
    return scipy.ndimage.shift(x, (*shift, 0), order=0)


_FUNCTIONS = {name: globals()[f"_{name}"] for name in NAMES}
