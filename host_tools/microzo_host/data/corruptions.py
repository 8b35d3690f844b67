"""What a camera does to images: seeded corruptions at severities 1 to 5.

``apply(name, images, severity, seed)`` takes and returns uint8 NxHxWxC and is
deterministic: image i depends only on (name, severity, seed, i), drawn from
``PCG64([seed, crc32(name), i])``. Severity 3 costs a clean-trained network
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
import scipy.ndimage

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


def apply_with(functions, levels, name, images, severity, seed):
    """``apply`` for any table of functions (image in [0, 1], level, rng) and of their levels."""
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
        rng = np.random.Generator(np.random.PCG64([seed, key, i]))
        real = function(image / 255.0, level, rng)
        out[i] = np.rint(np.clip(real, 0.0, 1.0) * 255.0)
    return out


def is_geometric(name):
    """Whether a corruption moves pixels rather than changing their values."""
    return name.startswith(GEOMETRIC_PREFIXES)


def _noise(x, sigma, rng):
    return x + sigma * rng.standard_normal(x.shape)


def _impulse(x, share, rng):
    """A share of pixels becomes black or white."""
    draw = rng.random((*x.shape[:2], 1))
    return np.where(draw < share / 2, 0.0, np.where(draw < share, 1.0, x))


def _blur(x, radius, rng):
    """Mean over a disc (defocus), its edge weighted by coverage."""
    reach = int(np.ceil(radius))
    distance = np.hypot(*np.mgrid[-reach : reach + 1, -reach : reach + 1])
    disc = np.clip(radius + 0.5 - distance, 0.0, 1.0)
    return scipy.ndimage.convolve(x, (disc / disc.sum())[..., None], mode="constant")


def _contrast(x, loss, rng):
    """Values move towards the image's mean."""
    return x.mean() + (x - x.mean()) * (1.0 - loss)


def _brightness(x, offset, rng):
    return x + offset


def _fog(x, density, rng):
    """Blend with smooth random clouds of brightness 0.3 to 1."""
    cloud = sum(
        scale * scipy.ndimage.gaussian_filter(rng.standard_normal(x.shape[:2]), scale, mode="wrap")
        for scale in (2.0, 4.0, 8.0)
    )
    low, high = cloud.min(), cloud.max()
    cloud = 0.3 + 0.7 * (cloud - low) / (high - low)
    return x * (1.0 - density) + density * cloud[..., None]


def _stripe(x, amplitude, rng):
    """Every sensor column has its own offset."""
    return x + amplitude * rng.standard_normal((1, x.shape[1], 1))


def _invert(x, share, rng):
    """Blend with the negative."""
    return x * (1.0 - share) + share * (1.0 - x)


def _rotate(x, angles, rng):
    """By an angle in the given range of degrees, either way."""
    angle = rng.uniform(*angles) * rng.choice((-1, 1))
    return _rotate_fixed(x, angle, rng)


def _rotate_fixed(x, angle, rng):
    return scipy.ndimage.rotate(x, angle, axes=(0, 1), reshape=False, order=1)


def _translate(x, reach, rng):
    """By a whole number of pixels in the given range, either way, in both axes."""
    shift = rng.integers(reach[0], reach[1] + 1, 2) * rng.choice((-1, 1), 2)
    return _translate_fixed(x, shift, rng)


def _translate_fixed(x, shift, rng):
    return scipy.ndimage.shift(x, (*shift, 0), order=0)


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
