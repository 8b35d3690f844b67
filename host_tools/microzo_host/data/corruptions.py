"""What a camera does to images: seeded corruptions at severities 1 to 5.

``apply(name, images, severity, seed)`` takes and returns uint8 NxHxWxC and is
deterministic: image i depends only on (name, severity, seed, i), drawn from
``PCG64([seed, crc32(name), i])``. All arithmetic is in integers (``exact``):
every machine makes the same images. Severity 3 costs a clean-trained network
about 20-35 points on Fashion-MNIST.

``rotate`` and ``translate`` draw an angle or a shift for every image, as a
shaken camera would; ``rotate_fixed`` and ``translate_fixed`` give all images
the one angle or shift of a camera mounted askew.

TUNING settings may be looked at while choosing step sizes; REPORTING settings
are for published figures only. The two lists share no corruption name.
``rotate`` and ``rotate_fixed`` are related (both rotate), and are therefore
not independent evidence; ``translate`` is unlike anything tuned on.
"""

import zlib

import numpy as np

from . import exact

TUNING = tuple((name, severity) for name in ("noise", "rotate") for severity in (2, 3, 4))
REPORTING = (
    ("impulse", 3), ("blur", 3), ("contrast", 3), ("brightness", 3), ("fog", 3), ("stripe", 3),
    ("invert", 3), ("translate", 3), ("translate_fixed", 3), ("rotate_fixed", 3),
)  # fmt: skip
GEOMETRIC_PREFIXES = ("rotate", "translate")

# One parameter per severity; the functions below say what it means.
LEVELS = {
    "noise": (0.06, 0.09, 0.12, 0.16, 0.22),
    "impulse": (0.03, 0.055, 0.085, 0.12, 0.18),
    "blur": (1.3, 2.0, 2.6, 3.2, 4.0),
    "contrast": (0.08, 0.14, 0.20, 0.27, 0.36),
    "brightness": (0.02, 0.035, 0.05, 0.07, 0.10),
    "fog": (0.03, 0.05, 0.075, 0.105, 0.15),
    "stripe": (0.05, 0.075, 0.10, 0.13, 0.18),
    "invert": (0.02, 0.035, 0.05, 0.07, 0.10),
    "rotate": ((4, 10), (8, 15), (12, 20), (17, 26), (24, 36)),
    "rotate_fixed": (-8, -12, -16, -21, -28),
    "translate": ((1, 1), (1, 2), (2, 3), (3, 4), (4, 5)),
    "translate_fixed": ((1, 1), (2, 1), (2, 2), (3, 3), (4, 4)),
}
NAMES = tuple(LEVELS)


def apply(name, images, severity, seed):
    """Corrupt uint8 images NxHxWxC; returns a new uint8 array of the same shape."""
    return apply_with(_FUNCTIONS, LEVELS, name, images, severity, seed)


def apply_level(name, images, level, seed):
    """``apply`` with any level of one corruption in place of a severity."""
    return apply_with(_FUNCTIONS, {name: 5 * (level,)}, name, images, 1, seed)


def apply_with(functions, levels, name, images, severity, seed):
    """``apply`` for any table of functions (image, level, draw) and of their levels.

    A function takes and returns grey values 0 to 255 as int64 in Q16, and may leave the range.
    """
    if name not in levels:
        raise ValueError(f"unknown corruption {name!r}: choose one of {', '.join(levels)}")
    if severity not in (1, 2, 3, 4, 5):
        raise ValueError(f"severity {severity!r} does not exist: choose 1 to 5")
    images = np.asarray(images)
    if images.dtype != np.uint8 or images.ndim != 4:
        raise ValueError(
            f"images are {images.dtype} with {images.ndim} dimensions: give uint8 NxHxWxC"
        )
    function, level = functions[name], levels[name][severity - 1]
    out, key = np.empty_like(images), zlib.crc32(name.encode())
    for i, image in enumerate(images):
        real = function(image.astype(np.int64) << 16, level, exact.Draw(seed, key, i))
        out[i] = np.clip((real + exact.ONE // 2) >> 16, 0, 255)
    return out


def is_geometric(name):
    """Whether a corruption moves pixels rather than changing their values."""
    return name.startswith(GEOMETRIC_PREFIXES)


def grey(share):
    """Q16 grey values of a share of white."""
    return exact.fixed(share * 255)


def noisy(x, sigma, normal):
    """Values plus ``sigma`` (a share of white) times standard normal numbers."""
    return x + (grey(sigma) * normal >> 16)


def blend(x, other, share):
    """x * (1 - share) + other * share."""
    share = exact.fixed(share)
    return (x * (exact.ONE - share) + other * share) >> 16


def _noise(x, sigma, draw):
    return noisy(x, sigma, draw.normal(x.shape))


def salted(x, share, draw, shape):
    """A share of values becomes black or white; ``shape``: what is drawn for."""
    at, limit = draw.words(shape), int(share * (1 << 32))
    return np.where(at < limit // 2, 0, np.where(at < limit, 255 * exact.ONE, x))


def _impulse(x, share, draw):
    """A share of pixels becomes black or white."""
    return salted(x, share, draw, (*x.shape[:2], 1))


def _blur(x, radius, draw):
    """Mean over a disc (defocus), its edge weighted by coverage."""
    return exact.convolve(x, exact.disc(radius), "constant")


def _contrast(x, loss, draw):
    """Values move towards the image's mean."""
    return blend(x, exact.divide(int(x.sum()), x.size), loss)


def _brightness(x, offset, draw):
    return x + grey(offset)


def _fog(x, density, draw):
    """Blend with smooth random clouds of brightness 0.3 to 1."""
    return fogged(x, density, 0.3, draw)


def fogged(x, density, least, draw):
    """Blend with smooth random clouds of brightness ``least`` to 1."""
    cloud = exact.clouds(draw, x.shape[:2])
    return blend(x, (grey(least) + (grey(1 - least) * cloud >> 16))[..., None], density)


def _stripe(x, amplitude, draw):
    """Every sensor column has its own offset."""
    return noisy(x, amplitude, draw.normal((1, x.shape[1], 1)))


def _invert(x, share, draw):
    """Blend with the negative."""
    return blend(x, 255 * exact.ONE - x, share)


def _rotate(x, angles, draw):
    """By an angle in the given range of degrees, either way."""
    low, high = (angle * exact.ONE for angle in angles)
    return exact.rotate(x, draw.between(low, high) * draw.signs())


def _rotate_fixed(x, angle, draw):
    return exact.rotate(x, angle * exact.ONE)


def _translate(x, reach, draw):
    """By a whole number of pixels in the given range, either way, in both axes."""
    return exact.shift(x, *(draw.between(*reach, (2,)) * draw.signs((2,))).tolist())


def _translate_fixed(x, shift, draw):
    return exact.shift(x, *shift)


_FUNCTIONS = {
    "noise": _noise,
    "impulse": _impulse,
    "blur": _blur,
    "contrast": _contrast,
    "brightness": _brightness,
    "fog": _fog,
    "stripe": _stripe,
    "invert": _invert,
    "rotate": _rotate,
    "rotate_fixed": _rotate_fixed,
    "translate": _translate,
    "translate_fixed": _translate_fixed,
}
