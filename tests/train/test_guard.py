"""What the guard keeps, and what a stage may do again."""

import pytest

import microzo
from microzo.train import guard


@pytest.mark.parametrize(
    ("strict", "gain", "loss", "kept"),
    [
        (False, 1, 9, True), (False, 0, -1, True), (False, 0, 0, False), (False, -1, -9, False),
        (True, 1, 9, False), (True, 1, 0, False), (True, 1, -1, True), (True, 0, -1, True),
        (True, 0, 0, False), (True, -1, -9, False),
    ],
)  # fmt: skip
def test_what_helps(strict, gain, loss, kept):
    after, before = guard.Score(50 + gain, 700 + loss), guard.Score(50, 700)
    assert after.better_than(before, strict) is kept


@pytest.mark.parametrize(
    ("name", "kind", "kept"),
    [("realign", "realign", False), ("refilter", "refilter", False), ("head", "head", True)],
)
def test_what_learns_without_labels_has_to_lower_the_loss_too(
    name, kind, kept, model, data, monkeypatch
):
    """Every stage sees one more right sample and a higher loss."""
    scores = iter((guard.Score(20, 100, 40), guard.Score(21, 101, 40)))
    monkeypatch.setattr(guard.Guard, "score", lambda self: next(scores))
    made = microzo.recipe(name)
    made["samples"] = 40
    made["stages"] = [stage for stage in made["stages"] if stage["kind"] == kind]
    trainer = microzo.Trainer(model, recipe=made)
    for _ in trainer.run(data):
        pass
    assert trainer.outcomes()[0].startswith(f"{kind} {'kept' if kept else 'rolled back'}")


def repeated(model, data, stages):
    made = microzo.recipe("realign")
    made["samples"] = 40
    made["stages"] = [dict(made["stages"][0], guard="", **changes) for changes in stages]
    for _ in microzo.Trainer(model, recipe=made).run(data):
        pass
    return bytes(model.state)


@pytest.mark.parametrize("alpha", (256, 100))
def test_a_second_realign_finds_what_the_first_found(alpha, model_path, data):
    once = repeated(microzo.load(model_path), data, [{"alpha": alpha}])
    assert repeated(microzo.load(model_path), data, [{"alpha": alpha}] * 3) == once
