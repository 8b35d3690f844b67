"""Contract: a method learns from samples as they come, to the bits that its journal goes on to."""

import contextlib
import itertools

import declared
import pytest
import runs

import microzo

LIVE = [v for v in declared.everything() if "pick" not in v.changes]  # step() says why not
WINDOW = 4
MOST = 60  # samples of a run


def trainer(run, variant, journal=None, **more):
    recipe = dict(variant.recipe, live=WINDOW, **more)
    options = {"journal": journal, "seed": 7, "checkpoint_every": 1}
    return microzo.Trainer(run.model(), recipe, **options)


def samples(run):
    """Endless labelled samples."""
    buf = bytearray(run.data.sample_len)
    for i in itertools.cycle(range(len(run.data))):
        label = run.data.read_into(i, buf)
        yield bytes(buf), label


def first_samples(run, count):
    return [sample for sample, _ in zip(samples(run), range(count))]


def feed(one, some):
    return [one.step(*sample) for sample in some]


def state(one):
    return bytes(one.model.state)


@pytest.mark.parametrize("variant", runs.sampled(LIVE, 12))
def test_live_samples(variant, run):
    """Learns within 20 samples, or says what is awaited; is resumed from its checkpoint to the
    same bits; is replayed, or says why not."""
    path = run.journal()
    one = trainer(run, variant, path)
    some = first_samples(run, 20)
    steps = feed(one, some)
    learned = [i for i, step in enumerate(steps) if step.learned]
    assert learned and all(step.loss >= 0 and step.missing > 0 for step in steps)
    middle = learned[len(learned) // 2]
    half = trainer(run, variant, run.journal("half"))
    feed(half, some[: middle + 1])
    feed(half, some[middle + 1 : middle + 2])  # lost with the power, if it completes no step
    again = microzo.resume(run.model(), run.journal("half"), checkpoint_every=1)
    feed(again, some[middle + 1 + (middle + 1 in learned) :])
    if "guard" in variant.changes:
        return  # what it held out is gone, it may decide otherwise
    if not declared.methods()[variant.kind].perturbs and not one.program["stages"][0].get("batch"):
        return  # the window of a label-free stage is gone: it collects a new one
    assert state(again) == state(one)
    copy = run.model()
    if runs.exact(one):
        with pytest.raises(ValueError, match="live samples"):
            microzo.replay(copy, path)
    else:
        assert microzo.replay(copy, path) is None
        assert bytes(copy.state) == state(one)


@pytest.mark.parametrize("kind", declared.methods())
def test_ctrl_c_counts_a_live_sample_once(kind, run, monkeypatch):
    """Behind any call of the kernels; the sample is given again."""
    variant = declared.variants(kind)[0]
    some = first_samples(run, 12)
    whole = trainer(run, variant)
    feed(whole, some)
    for stop in range(3, 600, 37):
        one = trainer(run, variant)
        feed(one, some[:1])
        kernels = Stopping(one.model.k, stop)
        monkeypatch.setattr(one.model, "k", kernels)
        for sample in some[1:]:
            with contextlib.suppress(KeyboardInterrupt):
                one.step(*sample)
                continue
            one.step(*sample)
        assert state(one) == state(whole)
        if kernels.calls < stop:
            break


class Stopping:
    """Kernels with a Ctrl-C behind one call."""

    def __init__(self, kernels, stop):
        self._kernels, self._stop, self.calls = kernels, stop, 0

    def __getattr__(self, name):
        def call(*arguments):
            result = getattr(self._kernels, name)(*arguments)
            self.calls += 1
            if self.calls == self._stop:
                raise KeyboardInterrupt
            return result

        return call


@pytest.mark.parametrize("kind", declared.methods())
def test_a_live_run_goes_round(kind, run):
    """Its last stage is done again and again, and its guard decides every time."""
    variant = declared.Variant(kind, kind, {"guard": "all"})
    one = trainer(run, variant)
    rounds = 0
    for sample, _ in zip(samples(run), range(MOST)):
        step = one.step(*sample)
        rounds += step.learned and step.steps == 0
    assert rounds >= 2 and not one.finished
    (outcome,) = one.outcomes()
    assert outcome.startswith((f"{kind} kept: held out", f"{kind} rolled back: held out"))


@pytest.mark.parametrize("kind", declared.methods())
def test_labels_of_live_samples(kind, run):
    variant = declared.variants(kind)[0]
    ((x, _),) = first_samples(run, 1)
    one = trainer(run, variant)
    if declared.methods()[kind].labels:
        with pytest.raises(ValueError, match="label None is not one of the classes"):
            one.step(x)
    else:
        assert one.step(x).loss is None
    with pytest.raises(ValueError, match="label 3 is not one of the classes"):
        one.step(x, 3)


@pytest.mark.parametrize("kind", declared.methods())
def test_the_memory_of_a_live_run(kind, run):
    """Its plan covers the buffers that it takes."""
    variant = declared.variants(kind)[0]
    plan = trainer(run, variant).memory(live=True)
    one = trainer(run, variant)
    feed(one, first_samples(run, 9))
    source = one._online.source
    batch = one.program["stages"][0].get("batch", one.program["stages"][0].get("samples", 0))
    assert plan.parts["collected samples"] == (WINDOW + batch) * (one.model.sample_len + 2)
    undo = len(source.undo._state) + len(source.undo._gradient)
    assert plan.parts["undo of a step"] == undo
    assert plan.parts["copy for roll-back"] >= len(source.undo.marked)
