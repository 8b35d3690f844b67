"""Models without a layer that can be trained: every recipe says so, in one sentence."""

import plan_nets
import pytest

import microzo
from microzo.net import words as L
from microzo.recipes.names import RECIPES

SENTENCE = "no layer that can be trained, it can only predict: take one with"


def one_pool():
    net = plan_nets.Plan((4, 4, 3))
    net.add(L.AVGPOOL, 0, k=(4, 4))
    return net.made()


def frozen_layers():
    """As imported layers that could overflow if they were trained."""
    net = plan_nets.Plan((4, 4, 3))
    net.add(L.DENSE, net.add(L.CONV, 0, 3, (3, 3)), 3)
    plan = net.made()
    for i in range(2):
        o = L.op_base(i)
        plan[o + L.ABS_SUM], plan[o + L.F], plan[o + L.EPS_W], plan[o + L.EPS_B] = 500, 0, 0, 0
    return plan


@pytest.fixture(params=[one_pool, frozen_layers])
def model(request, tmp_path):
    return microzo.load(plan_nets.write(request.param(), tmp_path / "m.safetensors"))


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipe_says_it(model, recipe, tmp_path):
    data = microzo.ArrayData(bytes(48 * 3), [0, 1, 2])
    for layers in ("auto", "all", "last1", [0]):
        with pytest.raises(ValueError, match=SENTENCE) as raised:
            microzo.Trainer(
                model, recipe, layers, journal=str(tmp_path / "j")
            ).run(data)  # fmt: skip
        assert "\n" not in str(raised.value)
    assert not (tmp_path / "j").exists()
    assert model.predict(bytes(48)) == 0


def test_live_samples_say_it(model):
    for recipe in ("spsa", "tail", "realign"):
        with pytest.raises(ValueError, match=SENTENCE):
            microzo.Trainer(model, recipe).step(bytes(48), 0)
