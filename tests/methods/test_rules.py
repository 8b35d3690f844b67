"""Rules: each on its own, against its formula written a second time."""

import random
from array import array

import pytest
import small

import microzo
from microzo.zo.rules import RULES


def ternary(diffs, clip):
    mean = sum(map(abs, diffs)) / len(diffs)
    return [0 if abs(d) < mean / 2 else clip if d > 0 else -clip if d else 0 for d in diffs]


def test_ternary_is_its_formula():
    rng = random.Random(1)
    seen = set()
    for n in range(1, 65):
        diffs = [rng.randint(-1000, 1000) * rng.randint(0, 3) for _ in range(n)]
        coefs = array("i", diffs)
        RULES["ternary"](coefs, n, 300)
        assert coefs.tolist() == ternary(diffs, 300)
        seen |= set(coefs)
    assert seen == {-300, 0, 300}


def test_ternary_at_its_threshold():
    coefs = array("i", (6, -2, 3, 1, 0))  # half the mean size is 1.2
    RULES["ternary"](coefs, 5, 7)
    assert coefs.tolist() == [7, -7, 7, 0, 0]
    coefs = array("i", (3, -1))  # half the mean size is 1
    RULES["ternary"](coefs, 2, 7)
    assert coefs.tolist() == [7, -7]


@pytest.mark.parametrize("rule", RULES)
def test_coefficients_stay_within_clip(rule):
    rng = random.Random(rule)
    for _ in range(50):
        coefs = array("i", [rng.randint(-(1 << 17), 1 << 17) for _ in range(8)])
        RULES[rule](coefs, 8, 40)
        assert all(-40 <= c <= 40 for c in coefs)
        nothing = array("i", (0, 0))
        RULES[rule](nothing, 2, 40)
        assert nothing.tolist() == [0, 0]


@pytest.mark.parametrize("rule", RULES)
def test_a_run_with_a_rule_replays(rule, tmp_path, model_path, data):
    recipe = small.short("spsa")
    recipe["stages"][0].update(rule=rule, clip=64, guard="")
    model = microzo.load(model_path)
    path = str(tmp_path / "run")
    small.train(model, data, recipe, journal=path)
    other = microzo.load(model_path)
    assert microzo.replay(other, path) is True
    assert bytes(other.state) == bytes(model.state)
