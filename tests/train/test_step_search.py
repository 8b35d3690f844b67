"""find_step: a step that learns, from a model that is as before."""

import pytest
import small

import microzo


def test_it_finds_a_step_that_learns(model, data):
    made = small.short("spsa")
    made["stages"][0].update(first_shift=20, shift=20, steps=20)
    trainer = microzo.Trainer(model, made)
    shift = trainer.find_step(data)
    assert -3 <= shift <= 8 and not len(model.state) and not model.trained
    assert made["stages"][0]["first_shift"] == 20
    before = model.evaluate(data)
    for _ in trainer.run(data):
        pass
    assert model.evaluate(data).loss < before.loss


def test_it_works_behind_a_realign(model, data):
    trainer = microzo.Trainer(model, small.short("forward_only"))
    shift = trainer.find_step(data)
    assert trainer.recipe["stages"][-1]["shift"] == shift


def test_it_is_deterministic(model_path, data):
    found = {microzo.Trainer(microzo.load(model_path), "spsa").find_step(data) for _ in range(2)}
    assert len(found) == 1


def test_recipes_without_such_a_stage_say_so(model, data):
    with pytest.raises(ValueError, match="is for spsa stages"):
        microzo.Trainer(model, "tail").find_step(data)
