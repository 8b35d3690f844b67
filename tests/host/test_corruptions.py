"""Corruptions: shapes, determinism, growing severity, the tuning and reporting lists."""

import zlib

import numpy as np
import pytest

from microzo_host import corruptions

# CRC-32 of the fixture's images, corrupted at severity 3 with seed 1.
GOLDEN = {
    "noise": 0xF5F3F1B8,
    "impulse": 0x5B338CED,
    "stripe": 0x19E486E1,
    "brightness": 0x88240154,
    "translate": 0xD645D11B,
}


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


@pytest.mark.parametrize("name", ["noise", "impulse", "stripe", "brightness", "translate"])
def test_golden(name, images):
    """The same bits everywhere; interpolating ones are left out (rounding of libm)."""
    assert zlib.crc32(corruptions.apply(name, images, 3, seed=1).tobytes()) == GOLDEN[name]


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
