"""Corruptions: shapes, determinism, growing severity, the tuning and reporting lists."""

import numpy as np
import pytest

from microzo_host.data import colour_corruptions, corruptions


@pytest.fixture(scope="module")
def images():
    rng = np.random.Generator(np.random.PCG64(5))
    smooth = np.kron(rng.integers(0, 200, (12, 7, 7, 1)), np.ones((1, 4, 4, 1)))
    smooth[:, :6] = smooth[:, -6:] = 0
    return smooth.astype(np.uint8)


@pytest.mark.parametrize("name", corruptions.NAMES)
def test_each_corruption(name, images):
    before, changes = images.copy(), []
    for severity in range(1, 6):
        out = corruptions.apply(name, images, severity, seed=3)
        assert out.shape == images.shape and out.dtype == np.uint8
        assert (out == corruptions.apply(name, images, severity, seed=3)).all()
        assert all((a != b).any() for a, b in zip(out, images, strict=True))
        changes.append(np.abs(out.astype(int) - images).mean())
    assert (images == before).all()
    assert changes == sorted(changes) and changes[4] > 1.25 * changes[0]


@pytest.mark.parametrize("name", corruptions.NAMES)
def test_an_image_depends_on_its_number_alone(name, images):
    whole = corruptions.apply(name, images, 3, seed=1)
    assert (corruptions.apply(name, images[:5], 3, seed=1) == whole[:5]).all()


@pytest.mark.parametrize("name", ["noise", "impulse", "fog", "stripe", "rotate", "translate"])
def test_random_ones_depend_on_seed_and_image(name, images):
    same = np.repeat(images[:1], 8, axis=0)
    out = corruptions.apply(name, same, 3, seed=1)
    assert len({image.tobytes() for image in out}) > 1
    assert (out != corruptions.apply(name, same, 3, seed=2)).any()


def test_any_channel_count_and_size():
    colour = np.arange(2 * 9 * 11 * 3, dtype=np.uint8).reshape(2, 9, 11, 3)
    for name in corruptions.NAMES:
        assert corruptions.apply(name, colour, 2, 0).shape == colour.shape
        assert corruptions.apply(name, colour[:0], 2, 0).shape == (0, 9, 11, 3)


def test_fixed_geometry_is_the_same_for_all(images):
    same = np.repeat(images[:1], 4, axis=0)
    for name in ("rotate_fixed", "translate_fixed"):
        assert len({i.tobytes() for i in corruptions.apply(name, same, 3, seed=1)}) == 1


def test_reporting_shares_nothing_with_tuning():
    tuned, reported = (
        {name for name, _ in c} for c in (corruptions.TUNING, corruptions.REPORTING)
    )
    assert not tuned & reported and len(reported) >= 8
    assert sum(map(corruptions.is_geometric, reported)) >= 2
    assert all(1 <= s <= 5 for _, s in corruptions.TUNING + corruptions.REPORTING)


@pytest.mark.parametrize(
    "name, severity, change, message",
    [
        ("rain", 3, lambda x: x, "unknown corruption 'rain'"),
        ("fog", 0, lambda x: x, "severity 0 does not exist"),
        ("fog", 6, lambda x: x, "choose 1 to 5"),
        ("fog", 3, lambda x: x / 255, "give uint8 NxHxWxC"),
        ("fog", 3, lambda x: x[..., 0], "give uint8 NxHxWxC"),
    ],
)
def test_bad_input(images, name, severity, change, message):
    with pytest.raises(ValueError, match=message):
        corruptions.apply(name, change(images), severity, 0)


@pytest.fixture(scope="module")
def colour():
    rng = np.random.Generator(np.random.PCG64(6))
    small = rng.integers(0, 256, (6, 9, 9, 3)).astype(float)
    small = 0.6 * small.mean(3, keepdims=True) + 0.4 * small  # about as pale as photographs
    grid = np.linspace(0, 7.99, 32)
    low, part = grid.astype(int), (grid % 1)[:, None, None]
    rows = small[:, low] * (1 - part) + small[:, low + 1] * part
    part = part.swapaxes(0, 1)
    both = rows[:, :, low] * (1 - part) + rows[:, :, low + 1] * part
    return np.rint(both + rng.integers(-12, 13, both.shape)).clip(0, 255).astype(np.uint8)


@pytest.mark.parametrize("name", colour_corruptions.NAMES)
def test_each_colour_corruption(name, colour):
    """Type, determinism and a distortion that grows with severity (RMS)."""
    before, changes = colour.copy(), []
    for severity in range(1, 6):
        out = colour_corruptions.apply(name, colour, severity, seed=3)
        assert out.shape == colour.shape and out.dtype == np.uint8
        assert (out == colour_corruptions.apply(name, colour, severity, seed=3)).all()
        assert all((a != b).any() for a, b in zip(out, colour, strict=True))
        first = colour_corruptions.apply(name, colour[:2], severity, seed=3)
        assert (first == out[:2]).all()
        changes.append(np.sqrt(((out.astype(float) - colour) ** 2).mean()))
    assert (colour == before).all()
    assert changes == sorted(changes) and changes[4] > 1.25 * changes[0]


def test_random_colour_corruptions_depend_on_the_seed(colour):
    for name in ("gauss", "shot", "speckle", "impulse", "motion", "fog", "elastic", "stripe",
                 "rotate", "translate"):  # fmt: skip
        a, b = (colour_corruptions.apply(name, colour, 3, seed) for seed in (1, 2))
        assert (a != b).any()


def test_jpeg_of_the_highest_quality_is_nearly_the_image(colour):
    soft = np.repeat(np.repeat(colour[:, ::8, ::8], 8, 1), 8, 2)  # no colour edge inside a block
    real = colour_corruptions._jpeg(soft[0].astype(np.int64) << 16, 100, None)
    assert np.abs(real / 65536 - soft[0]).max() < 4


def test_pixelate_keeps_the_mean_of_a_box(colour):
    real = colour_corruptions._pixelate(colour[0].astype(np.int64) << 16, 16, None)
    boxes = colour[0].reshape(16, 2, 16, 2, 3).sum((1, 3)) << 14
    assert np.array_equal(real[::2, ::2], boxes) and np.array_equal(real[1::2, 1::2], boxes)


def test_colour_reporting_shares_nothing_with_tuning():
    tuned, reported = (
        {name for name, _ in c} for c in (colour_corruptions.TUNING, colour_corruptions.REPORTING)
    )
    assert not tuned & reported and len(reported) >= 14
    assert tuned | reported == set(colour_corruptions.NAMES)


def test_grey_images_have_no_colour_corruptions(images):
    with pytest.raises(ValueError, match="give colour"):
        colour_corruptions.apply("gauss", images, 3, 0)
