"""The random signs are balanced and streams do not resemble each other (SPEC.md, section 2)."""

import numpy as np
import pytest

from microzo_host.reference import rng

ROWS, K = 256, 1024
COUNT = ROWS * K
SIGMA = COUNT**-0.5  # of the mean of COUNT independent signs

SEEDS = (0, 1, 2, 3, 1000, 12345, (1 << 29) + 7, (1 << 30) - 1)
STREAMS = (0, 1, 4, 5, 8, 400)


def block(seed, stream):
    return rng.signs(seed, stream, ROWS, K)


def similarity(a, b):
    """Correlation in standard deviations."""
    return abs(float((a * b).mean())) / SIGMA


@pytest.mark.parametrize("seed", SEEDS)
def test_balance(seed):
    signs = block(seed, 4)
    assert set(np.unique(signs)) == {-1, 1}
    assert abs(signs.mean()) < 4.5 * SIGMA
    # every column (a bit of a word) and every row on its own
    assert abs(signs.mean(axis=0)).max() < 5 / ROWS**0.5
    assert abs(signs.mean(axis=1)).max() < 5 / K**0.5


@pytest.mark.slow
def test_streams_and_seeds_are_uncorrelated():
    blocks = {(seed, t): block(seed, t) for seed in SEEDS for t in STREAMS}
    keys = list(blocks)
    worst = max(similarity(blocks[a], blocks[b]) for i, a in enumerate(keys) for b in keys[:i])
    assert worst < 5  # 1128 pairs: chance of a false alarm below 1 in 1000


@pytest.mark.slow
def test_no_stream_is_another_one_shifted():
    """Words of neighbouring seeds and streams share no more values than chance allows."""
    n = np.arange(1 << 14)
    seen = [rng.words(seed, t, n) for seed in (0, 1, 2, 77) for t in (0, 1, 2, 0xD0000000)]
    for i, a in enumerate(seen):
        for b in seen[:i]:
            assert len(np.intersect1d(a, b)) <= 6  # 2^28 / 2^32 = 1/16 expected


def test_neighbouring_weights_are_uncorrelated():
    signs = block(99, 0).reshape(-1)
    for lag in (1, 2, 3, 4, 8, 16, 31, 32, 33, 64, K):
        assert similarity(signs[lag:], signs[:-lag]) < 4.5, lag


def test_neighbouring_seeds_flip_half_of_the_bits():
    n = np.arange(4096)
    for bit in range(30):
        changed = rng.words(5, 7, n) ^ rng.words(5 ^ 1 << bit, 7, n)
        flips = (changed[:, None] >> np.arange(32) & 1).mean(axis=0)
        assert abs(flips - 0.5).max() < 5 * 0.5 / 64, bit


def test_derived_seeds_do_not_collide():
    seeds = {rng.derive(seed, a, b) for seed in (0, 1) for a in range(40) for b in range(250)}
    # 20,000 draws from 2^30: 0.19 collisions expected
    assert len(seeds) >= 20000 - 3


def test_shuffle_is_uniform():
    """Each value comes to each place equally often (chi-squared, 49 degrees of freedom)."""
    counts = np.zeros((8, 8))
    for seed in range(4000):
        order = np.arange(8, dtype=np.uint16)
        rng.shuffle(seed, order)
        assert sorted(order) == list(range(8))
        counts[np.arange(8), order] += 1
    chi = ((counts - 500) ** 2 / 500).sum()
    assert 20 < chi < 95
