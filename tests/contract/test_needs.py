"""Contract: a run holds at most what its method declares, part by part."""

import buffers
import declared
import pytest
import runs

import microzo
from microzo.recipes import resolve
from microzo.train.engine import Engine

REST = ("sample order and labels", "sample buffers", "statistics and records")


def held(monkeypatch, trainer, data, steps):
    """Most bytes of each part after any piece of a run."""
    most = {}
    advance = Engine.advance

    def watched(engine):
        done = advance(engine)
        if engine is not trainer._engine:
            return done  # of a search
        for part, size in buffers.taken(engine, data).items():
            most[part] = max(most.get(part, 0), size)
        return done

    monkeypatch.setattr(Engine, "advance", watched)
    for _ in trainer.run(data, steps):
        pass
    monkeypatch.undo()
    return most


def check(monkeypatch, model, recipe, data, journal=None, steps=None):
    trainer = microzo.Trainer(model, recipe, seed=7, journal=journal, cache=0)
    plan = trainer.memory(len(data), data.labelled).parts
    most = held(monkeypatch, trainer, data, steps)
    needs = resolve.needs(model, trainer.program, journal is None)
    rest = most.pop(buffers.REST)
    for part, size in most.items():
        assert size <= needs[part], part
    assert rest <= sum(needs[part] for part in REST)
    if "pick" not in recipe["stages"][-1]:  # before a pick, all operators count
        assert plan == needs
    return most, needs


@pytest.mark.parametrize("variant", runs.sampled(declared.everything(), 30))
def test_of_the_tiny_network(variant, run, monkeypatch):
    most, needs = check(monkeypatch, run.model(), variant.recipe, run.data, steps=variant.steps)
    for part in ("trained values", "copy for roll-back", "gradients", "nodes"):
        assert most[part] == needs[part]  # not a byte more is asked for


@pytest.mark.parametrize("variant", runs.sampled(declared.everything(), 20))
def test_of_a_wide_network(variant, wide_run, monkeypatch):
    """Its buffers are larger than what is left to small objects."""
    check(
        monkeypatch, wide_run.model(), variant.recipe, wide_run.data, wide_run.journal(),
        variant.steps,
    )  # fmt: skip
