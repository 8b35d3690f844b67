"""Fixed-point arithmetic against Python's floats, random draws against their distributions."""

import math

import numpy as np
import pytest

from microzo_host.data import exact


@pytest.mark.parametrize("degrees", [-180, -28.5, 0, 1, 36, 90, 137.25, 270])
def test_sine_and_cosine(degrees):
    angle, real = exact.radians(exact.fixed(degrees)), math.radians(degrees)
    for function, reference in ((exact.sine, math.sin), (exact.cosine, math.cos)):
        assert function(angle) == round(reference(real) * exact.ONE)
        assert math.isclose(function(angle, 40) / 2**40, reference(real), abs_tol=1e-12)


def test_division_rounds_half_up():
    assert [exact.divide(a, 4) for a in (-7, -6, -5, 1, 2, 3, 6)] == [-2, -1, -1, 0, 1, 1, 2]


def test_draws_depend_on_their_key():
    keys = (1, 2, 3), (1, 2, 4), (2, 2, 3)
    draws = [exact.Draw(*key).words((4,)).tolist() for key in keys]
    assert len(set(map(tuple, draws))) == 3
    assert draws[0] == exact.Draw(*keys[0]).words((4,)).tolist()
    assert draws[0][:2] == (np.random.PCG64(keys[0]).random_raw(2) >> np.uint64(32)).tolist()


def test_uniform_integers_reach_both_ends():
    values = exact.Draw(5).between(-2, 3, (6000,))
    assert np.bincount(values + 2).tolist() == pytest.approx([1000] * 6, abs=150)
    assert set(exact.Draw(6).signs((50,)).tolist()) == {-1, 1}
    assert exact.Draw(7).between(4, 4) == 4


def test_normal_numbers():
    values = exact.Draw(8).normal((200, 1000)) / exact.ONE
    assert abs(values.mean()) < 0.01 and abs(values.std() - 1) < 0.01
    inside = [(np.abs(values) < d).mean() for d in (1, 2, 3)]
    assert inside == pytest.approx([0.6827, 0.9545, 0.9973], abs=0.01)  # a little less outside


@pytest.mark.parametrize("photons", [40, 400])
def test_poisson_counts(photons):
    draw = exact.Draw(9)
    assert not draw.poisson(np.zeros(100, int), photons).any()
    for level in (1, 20, 255):
        counts, mean = draw.poisson(np.full(100_000, level), photons), level * photons / 255
        assert abs(counts.mean() - mean) < 0.02 * math.sqrt(mean) + 0.001
        assert counts.var() == pytest.approx(mean, rel=0.05)
        seen = (counts == round(mean)).mean()
        expected = math.exp(round(mean) * math.log(mean) - mean - math.lgamma(round(mean) + 1))
        assert seen == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("mode", ["wrap", "reflect"])
def test_smoothing_is_gaussian(mode):
    """A dot in the middle, far enough from the edges, becomes a bell; at an edge none is lost."""
    x = np.zeros((31, 31), np.int64)
    x[15, 15] = 1 << 24
    bell = exact.smooth(x, 2.0, mode)
    distance = np.arange(31) - 15
    row = np.exp(-(distance**2) / 8)
    expected = np.outer(row, row) / row.sum() ** 2
    assert np.abs(bell / (1 << 24) - expected).max() < 1e-4
    edge = np.roll(x, (15, 3), (0, 1))
    assert exact.smooth(edge, 2.0, mode).sum() == pytest.approx(1 << 24, rel=1e-3)
    across = exact.smooth(edge, 2.0, mode)[0, 18] / (1 << 24)  # one pixel on, around the edge
    assert across == (pytest.approx(expected[14, 15], abs=1e-4) if mode == "wrap" else 0)


def test_disc_and_convolution():
    kernel = exact.disc(1.5)
    assert kernel.shape == (5, 5) and kernel[2, 2] == exact.ONE and kernel[0, 0] == 0
    assert kernel[1, 1] == pytest.approx(exact.ONE * (2 - math.sqrt(2)), abs=1)
    x = np.full((6, 7, 2), 100 << 16)
    assert (exact.convolve(x, kernel, "symmetric") == 100 << 16).all()
    dark = exact.convolve(x, kernel, "constant")
    assert dark[0, 0, 0] < dark[0, 3, 0] < dark[3, 3, 0] == 100 << 16


def test_sampling_is_linear_and_repeats_edges():
    row, column = np.mgrid[:5, :6]
    x = ((10 * row + column) << 16)[..., None]
    half = exact.ONE // 2
    between = exact.sample(x, (row << 16) + half, (column << 16) - half)
    expected = 10 * np.minimum(row + 0.5, 4) + np.maximum(column - 0.5, 0)
    assert np.array_equal(between[..., 0] / exact.ONE, expected)


def test_rotation_by_right_angles():
    x = np.arange(35).reshape(5, 7, 1) << 16
    assert (exact.rotate(x, 0) == x).all()
    assert (exact.rotate(x, 180 * exact.ONE) == x[::-1, ::-1]).all()
    square = np.arange(25).reshape(5, 5, 1) << 16
    assert (exact.rotate(square, 90 * exact.ONE) == np.rot90(square)).all()


def test_shift_leaves_black():
    x = np.arange(1, 13).reshape(3, 4, 1)
    moved = exact.shift(x, 1, -2)[..., 0].tolist()
    assert moved == [[0, 0, 0, 0], [3, 4, 0, 0], [7, 8, 0, 0]]
    assert not exact.shift(x, 3, 0).any() and not exact.shift(x, 0, -9).any()


def test_clouds_span_black_to_white():
    cloud = exact.clouds(exact.Draw(1), (28, 28))
    assert cloud.min() == 0 and cloud.max() == exact.ONE
    steps = np.abs(np.diff(cloud, axis=0)).mean() / exact.ONE
    assert 0.005 < steps < 0.1  # smooth, not flat
    assert exact.clouds(exact.Draw(1), (1, 1)).tolist() == [[0]]
