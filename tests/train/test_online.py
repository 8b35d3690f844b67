"""trainer.step(x, y): live samples."""

import pathlib

import pytest
import small

import microzo


def feed(trainer, model_path, updates):
    x, y = small.arrays(model_path)
    losses = []
    i = 0
    while trainer.at is None or trainer.at.step < updates:
        losses.append(trainer.step(x[i % len(x)].tobytes(), int(y[i % len(y)])))
        i += 1
    return losses


@pytest.mark.parametrize(("name", "each"), [("spsa", 6), ("head", 8), ("tail", 8)])
def test_live_samples_train(name, each, model, model_path):
    trainer = microzo.Trainer(model, small.short(name))
    losses = feed(trainer, model_path, 5)
    assert len(losses) == 5 * each
    assert all(loss >= 0 for loss in losses)
    assert trainer.info.step == 5


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
    assert trainer.at.step == 3 and bytes(third.state) == state


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
