"""trainer.step(x, y): live samples."""

import pathlib

import pytest
import small

import microzo
from microzo.journal import record


def feed(trainer, model_path, updates):
    x, y = small.arrays(model_path)
    each = small.per_step(trainer.recipe["stages"][0])
    return [
        trainer.step(x[i % len(x)].tobytes(), int(y[i % len(y)])) for i in range(updates * each)
    ]


@pytest.mark.parametrize(("name", "each"), [("spsa", 6), ("head", 8), ("tail", 8), ("elastic", 6)])
def test_live_samples_train(name, each, model_path, tmp_path):
    """A record, and a move, every `each` samples."""
    model, path = microzo.load(model_path), str(tmp_path / "run")
    trainer = microzo.Trainer(model, small.short(name), journal=path)
    states, (x, y) = [], small.arrays(model_path)
    for i in range(5 * each):
        assert trainer.step(x[i].tobytes(), int(y[i])) >= 0
        states.append(bytes(model.state))
    moves = [i for i in range(1, len(states)) if states[i] != states[i - 1]]
    assert moves == [each * step - 1 for step in range(1, 6)]
    assert len(small.records(path, record.STEP)) == 5


def test_live_samples_are_not_taken_from_a_cache_file(tmp_path, model_path):
    states = []
    for options in ({}, {"cache_file": str(tmp_path / "prefix.tmp")}):
        model = microzo.load(model_path)
        feed(microzo.Trainer(model, small.short("tail"), **options), model_path, 3)
        states.append(bytes(model.state))
    assert states[0] == states[1]


def test_live_spsa_is_journalled_and_resumed(tmp_path, model_path):
    path = str(tmp_path / "live.jrn")
    model = microzo.load(model_path)
    feed(microzo.Trainer(model, small.short("spsa"), journal=path), model_path, 3)
    state = bytes(model.state)
    again = microzo.load(model_path)
    assert microzo.replay(again, path) is None
    assert bytes(again.state) == state
    third = microzo.load(model_path)
    trainer = microzo.resume(third, path)
    x, y = small.arrays(model_path)
    trainer.step(x[0].tobytes(), int(y[0]))
    assert len(small.records(path, record.STEP)) == 3 and bytes(third.state) == state


def test_live_gradients_cannot_be_replayed(tmp_path, model_path):
    path = str(tmp_path / "live.jrn")
    feed(
        microzo.Trainer(microzo.load(model_path), small.short("head"), journal=path), model_path, 2
    )
    x, y = small.arrays(model_path)
    with pytest.raises(ValueError, match="live samples"):
        microzo.replay(microzo.load(model_path), path)


def test_the_last_step_ends_the_run(model, model_path):
    trainer = microzo.Trainer(model, small.short("spsa"))
    x, y = small.arrays(model_path)
    with pytest.raises(ValueError, match="are done"):
        for i in range(1000):
            trainer.step(x[i % 60].tobytes(), int(y[i % 60]))
    assert i == 6 * 6 and model.trained


def test_what_does_not_fit_is_refused(model):
    trainer = microzo.Trainer(model, "spsa")
    with pytest.raises(ValueError, match="has 144 bytes, not 3"):
        trainer.step(b"abc", 0)
    with pytest.raises(ValueError, match="not one of the classes"):
        trainer.step(bytes(144), 4)
    with pytest.raises(ValueError, match="one stage"):
        microzo.Trainer(model, "default").step(bytes(144), 0)


def test_live_samples_do_not_continue_a_run(tmp_path, model_path, data):
    for name in ("realign", "refilter"):
        path = str(tmp_path / name)
        recipe = small.short(name)
        recipe["stages"] = recipe["stages"][-1:]
        next(microzo.Trainer(microzo.load(model_path), recipe, journal=path).run(data))
        whole = pathlib.Path(path).read_bytes()
        model = microzo.load(model_path)
        with pytest.raises(ValueError, match="other data"):
            microzo.resume(model, path).step(bytes(model.sample_len), 0)
        assert pathlib.Path(path).read_bytes() == whole
