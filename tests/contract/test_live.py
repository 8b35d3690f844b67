"""Contract: a method learns from samples as they come, to the bits that its journal resumes to."""

import declared
import pytest
import runs

import microzo

LIVE = [v for v in declared.everything() if "pick" not in v.changes]  # step() refuses a pick
LONGEST = 400  # samples of a step; that of a larger batch never ends here
STEPS = 2


def sample(run, i):
    buf = bytearray(run.model().sample_len)
    label = run.data.read_into(i % len(run.data), buf)
    return bytes(buf), label


def feed(run, trainer, first, count):
    """Feeds samples first..first+count-1; their losses."""
    return [trainer.step(*sample(run, i)) for i in range(first, first + count)]


def per_step(run, variant):
    """(samples of a live step, whether nothing but the journal is needed to go on)."""
    trainer = run.trainer(run.model(), variant)
    trainer.step(*sample(run, 0))
    stage = trainer._engine.stage()
    return stage.per_step, stage.clean, stage.steps


@pytest.mark.parametrize("variant", runs.sampled(LIVE, 12))
def test_live_samples(variant, run):
    each, clean, steps = per_step(run, variant)
    if each > LONGEST:
        pytest.skip(f"{each} samples a step")
    n = min(STEPS, steps)
    path = run.journal()
    model = run.model()
    trainer = run.trainer(model, variant, journal=path)
    losses = feed(run, trainer, 0, each)
    first = bytes(model.state)
    losses += feed(run, trainer, each, (n - 1) * each)
    assert all(loss >= 0 for loss in losses)
    if not clean:
        with pytest.raises(ValueError, match="live samples"):
            microzo.replay(run.model(), path)
        return
    copy = run.model()
    assert microzo.replay(copy, path) is (True if n == steps else None)
    assert bytes(copy.state) == bytes(model.state)
    if n == 1:
        return
    path = run.journal("half")
    trainer = run.trainer(run.model(), variant, journal=path)
    feed(run, trainer, 0, each + (each > 1))  # a sample of the next step is lost with the power
    assert bytes(trainer.model.state) == first
    again = run.model()
    feed(run, microzo.resume(again, path), each, (n - 1) * each)
    assert bytes(again.state) == bytes(model.state)
    with open(path, "rb") as f, open(run.journal(), "rb") as g:
        assert f.read() == g.read()


@pytest.mark.parametrize("kind", declared.methods())
def test_a_step_of_live_samples_moves_the_model(kind, run):
    variant = declared.variants(kind)[0]
    each, _, _ = per_step(run, variant)
    trainer = run.trainer(run.model(), variant)
    feed(run, trainer, 0, each - 1)
    before = bytes(trainer.model.state)
    feed(run, trainer, each - 1, 1)
    assert bytes(trainer.model.state) != before


@pytest.mark.parametrize("kind", declared.methods())
def test_labels_of_live_samples(kind, run):
    variant = declared.variants(kind)[0]
    x, _ = sample(run, 0)
    trainer = run.trainer(run.model(), variant)
    if declared.methods()[kind].labels:
        with pytest.raises(ValueError, match="label None is not one of the classes"):
            trainer.step(x)
    else:
        assert trainer.step(x) >= 0
    with pytest.raises(ValueError, match="label 3 is not one of the classes"):
        trainer.step(x, 3)
