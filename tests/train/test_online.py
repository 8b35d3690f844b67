"""trainer.step(x, y): live samples."""

import contextlib
import pathlib

import pytest
import small

import microzo
from microzo.journal import record
from microzo.recipes.names import RECIPES

WINDOW = 8
ACT = ("head", "tail", "elastic", "spsa", "guided", "entropy", "default", "pmt")


def recipe(name, samples=40):
    """Of few steps; a round has `samples` samples."""
    made = small.short("elastic" if name == "guided" else name, samples)
    if name == "guided":
        made["stages"][0]["guided"] = 1
    made["live"] = WINDOW
    return made


@pytest.fixture(scope="module")
def samples(model_path):
    x, y = small.arrays(model_path)
    return [(x[i].tobytes(), int(y[i])) for i in range(len(x))]


def feed(trainer, samples):
    return [trainer.step(*sample) for sample in samples]


@pytest.mark.parametrize("name", RECIPES)
def test_twenty_samples_teach_something_or_what_is_awaited_is_said(name, model, samples):
    trainer = microzo.Trainer(model, name)
    for sample in samples[:20]:
        before = bytes(model.state)
        step = trainer.step(*sample)
        if step.learned:
            assert bytes(model.state) != before and "learned, " in repr(step)
            break
    else:
        assert repr(step).startswith(f"collecting 20/32 samples for {step.stage}, ")
        assert step.missing == 12
    trainer.step(*samples[0])


@pytest.mark.parametrize("name", RECIPES)
def test_every_stage_of_a_recipe_has_its_turn(name, model, samples):
    trainer = microzo.Trainer(model, recipe(name, 16))
    steps = feed(trainer, samples)
    assert len(trainer.outcomes()) >= len(trainer.program["stages"])
    assert {spec["kind"] for spec in trainer.program["stages"]} >= {step.stage for step in steps}
    assert not trainer.finished and any(step.learned for step in steps[-WINDOW - 8 :])


def test_what_a_step_tells(model, samples):
    trainer = microzo.Trainer(model, recipe("head"))
    answer, loss = model.predict(samples[0][0]), model.loss(*samples[0])
    step = trainer.step(*samples[0])
    assert (step.answer, step.loss, step.learned) == (answer, loss, False)
    assert step.accuracy == (answer == samples[0][1]) and float(step) == loss
    right = f"loss {loss:.2f}, right {100 * step.accuracy:.0f} %"
    assert repr(step) == f"collecting {8 - step.missing}/8 samples for head, {right}"
    last = feed(trainer, samples[1:40])[-1]
    assert 0 < last.steps <= 5 and last.stage == "head" and step <= 1000 > last


def test_one_in_five_is_held_out_for_the_guard(model, samples):
    trainer = microzo.Trainer(model, recipe("tail"))
    steps = feed(trainer, samples[:50])
    learned = [i + 1 for i, step in enumerate(steps) if step.learned]
    assert len(learned) == 5 and learned[0] == 10 and learned[-1] == 50
    assert trainer.outcomes()[0].startswith("tail ") and "held out 8 " in trainer.outcomes()[0]


def test_without_a_guard_every_sample_is_learned_from(model, samples):
    made = recipe("tail")
    made["stages"][0]["guard"] = ""
    steps = feed(microzo.Trainer(model, made), samples[:40])
    assert [i + 1 for i, step in enumerate(steps) if step.learned] == [8, 16, 24, 32, 40]


def test_a_guard_rolls_a_ruinous_round_back(model, samples):
    made = recipe("head")
    made["stages"][0].update(head_shift=-14)
    trainer = microzo.Trainer(model, made)
    feed(trainer, samples[:9])
    before = bytes(model.state)
    steps = feed(trainer, samples[9:50])
    assert sum(step.learned for step in steps) == 5
    assert trainer.outcomes()[0].startswith("head rolled back") and bytes(model.state) == before


def test_label_free_stages_need_no_labels(model, samples):
    trainer = microzo.Trainer(model, recipe("default"))
    steps = [trainer.step(x) for x, _ in samples[:20]]
    assert steps[7].learned and steps[-1].loss is None and steps[-1].accuracy is None
    assert "no tail, the data have no labels" in trainer.outcomes()
    assert repr(steps[0]) == "collecting 1/8 samples for realign"


def test_a_run_has_no_end(model, samples):
    made = recipe("head", samples=512)
    trainer = microzo.Trainer(model, made)
    for i in range(5300):
        step = trainer.step(*samples[i % len(samples)])
    assert not trainer.finished and trainer.program["samples"] == 512
    assert len(trainer.outcomes()) == 1  # of the last round: a list would fill the memory
    feed(trainer, samples[:10])
    assert step.steps


class Stop(KeyboardInterrupt):
    pass


class Stopping:
    """Kernels after whose call number `at` comes a Ctrl-C."""

    def __init__(self, kernels, at):
        self._kernels, self._at, self.calls = kernels, at, 0

    def __getattr__(self, name):
        function = getattr(self._kernels, name)

        def call(*arguments):
            result = function(*arguments)
            self.calls += 1
            if self.calls == self._at:
                raise Stop
            return result

        return call


def interrupted(model_path, name, samples, at, journal=None):
    """(state, outcomes, kernel calls) of a run in which a sample is given again after Ctrl-C."""
    model = microzo.load(model_path)
    trainer = microzo.Trainer(model, recipe(name, 16), journal=journal, checkpoint_every=2)
    trainer.step(*samples[0])
    kernels = model.k = Stopping(model.k, at)
    for sample in samples[1:]:
        try:
            trainer.step(*sample)
        except Stop:
            trainer.step(*sample)
    return bytes(model.state), trainer.outcomes(), kernels.calls


@pytest.mark.parametrize("journalled", [False, True])
@pytest.mark.parametrize("name", ACT)
def test_ctrl_c_counts_a_sample_once(name, journalled, model_path, samples, tmp_path):
    """Wherever it comes, and the journal is the same, too."""

    def run(name_of, at):
        path = tmp_path / name_of if journalled else None
        done = interrupted(model_path, name, samples[:30], at, path and str(path))
        return done, path and path.read_bytes()

    (state, outcomes, calls), whole = run("whole", -1)
    for at in range(1, calls, max(1, calls // 12)):
        (again, told, _), journal = run(f"cut{at}", at)
        assert (again, told, journal) == (state, outcomes, whole), at


def test_after_ctrl_c_the_model_is_what_it_was(model_path, samples):
    model = microzo.load(model_path)
    trainer = microzo.Trainer(model, recipe("tail"))
    feed(trainer, samples[:9])
    before = bytes(model.state)
    kernels, states, step = model.k, [], None
    while step is None:
        model.k = Stopping(kernels, len(states) + 1)
        with contextlib.suppress(Stop):
            step = trainer.step(*samples[9])
        states.append(bytes(model.state))
    assert step.learned and len(states) > 10 and states[-1] != before
    assert set(states) == {before, states[-1]} and states[:10] == 10 * [before]


def test_another_sample_after_ctrl_c_is_another_sample(model_path, samples):
    """The one that was interrupted has been counted or not, never in part."""
    ends = set()
    for at in range(1, 40):
        model = microzo.load(model_path)
        trainer = microzo.Trainer(model, recipe("head"))
        feed(trainer, samples[:7])
        kernels = model.k
        model.k = Stopping(kernels, at)
        with contextlib.suppress(Stop):
            trainer.step(*samples[7])
        model.k = kernels
        feed(trainer, samples[8:30])
        ends.add(bytes(model.state))
    with_it, without = (microzo.load(model_path) for _ in range(2))
    feed(microzo.Trainer(with_it, recipe("head")), samples[:30])
    feed(microzo.Trainer(without, recipe("head")), samples[:7] + samples[8:30])
    assert ends <= {bytes(with_it.state), bytes(without.state)} and bytes(with_it.state) in ends


@pytest.mark.parametrize("name", ["head", "tail", "elastic", "spsa", "guided", "entropy"])
@pytest.mark.parametrize("cut", range(20, 37, 4))
def test_a_live_run_resumes_at_its_checkpoint(name, cut, model_path, samples, tmp_path):
    """To the bits of the run that was not cut, from the samples behind the checkpoint on."""
    path = str(tmp_path / "run")
    made = recipe(name, 400)
    whole = microzo.load(model_path)
    trainer = microzo.Trainer(whole, made, journal=path + ".whole", checkpoint_every=2)
    steps = feed(trainer, samples)
    feed(microzo.Trainer(microzo.load(model_path), made, journal=path, checkpoint_every=2),
         samples[:cut])  # fmt: skip
    again = microzo.load(model_path)
    trainer = microzo.resume(again, path, checkpoint_every=2)
    first = trainer.step(*samples[0])  # tells where it goes on
    places = [(step.stage, step.steps) for step in steps if step.learned]
    ends = [i + 1 for i, step in enumerate(steps) if step.learned]
    back = dict(zip(places, ends)).get((first.stage, first.steps), 0)
    again = microzo.load(model_path)
    feed(microzo.resume(again, path, checkpoint_every=2), samples[back:])
    assert bytes(again.state) == bytes(whole.state)
    assert back > 0 and cut - back <= 20


def test_resumed_twice_and_replayed(model_path, samples, tmp_path):
    path = str(tmp_path / "run")
    feed(microzo.Trainer(microzo.load(model_path), recipe("spsa"), journal=path), samples[:20])
    for _ in range(2):
        model = microzo.load(model_path)
        feed(microzo.resume(model, path), samples[:20])
    copy = microzo.load(model_path)
    assert microzo.replay(copy, path) is None
    assert bytes(copy.state) == bytes(model.state)


def test_live_gradients_cannot_be_replayed(tmp_path, model_path, samples):
    path = str(tmp_path / "live.jrn")
    feed(microzo.Trainer(microzo.load(model_path), recipe("head"), journal=path), samples[:20])
    assert record.LIVE in {rec[1] for rec in small.records(path, record.STEP)}
    with pytest.raises(ValueError, match="live samples"):
        microzo.replay(microzo.load(model_path), path)


def test_a_cut_behind_every_record(model_path, samples, tmp_path):
    """Whatever a power cut leaves of the journal, the run goes on."""
    path = tmp_path / "run"
    feed(
        microzo.Trainer(
            microzo.load(model_path), recipe("tail", 16), journal=str(path), checkpoint_every=2
        ),
        samples[:50],
    )
    beside = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    whole = beside["run"]
    for end in range(small.ends(str(path))[0], len(whole), 7):
        for name, content in beside.items():
            (tmp_path / name).write_bytes(content)
        path.write_bytes(whole[:end])
        model = microzo.load(model_path)
        steps = feed(microzo.resume(model, str(path)), samples[:20])
        assert any(step.learned for step in steps)


def test_live_samples_are_not_taken_from_a_cache_file(tmp_path, model_path, samples):
    states = []
    for options in ({}, {"cache_file": str(tmp_path / "prefix.tmp")}):
        model = microzo.load(model_path)
        feed(microzo.Trainer(model, recipe("tail"), **options), samples[:30])
        states.append(bytes(model.state))
    assert states[0] == states[1]


def test_what_does_not_fit_is_refused(model):
    trainer = microzo.Trainer(model, "spsa")
    with pytest.raises(ValueError, match="has 144 bytes, not 3"):
        trainer.step(b"abc", 0)
    with pytest.raises(ValueError, match="not one of the classes"):
        trainer.step(bytes(144), 4)
    made = microzo.recipe("spsa")
    made["stages"][0]["pick"] = "gradient"
    with pytest.raises(ValueError, match="pick looks at all samples before the run, .* layers"):
        microzo.Trainer(model, made).step(bytes(144), 0)
    with pytest.raises(ValueError, match="live of a recipe is 4..1024, not 3"):
        microzo.Trainer(model, dict(made, live=3))


def test_live_samples_do_not_continue_a_run(tmp_path, model_path, data):
    for name in ("realign", "refilter"):
        path = str(tmp_path / name)
        made = small.short(name)
        made["stages"] = made["stages"][-1:]
        next(microzo.Trainer(microzo.load(model_path), made, journal=path).run(data))
        whole = pathlib.Path(path).read_bytes()
        model = microzo.load(model_path)
        with pytest.raises(ValueError, match="other data"):
            microzo.resume(model, path).step(bytes(model.sample_len), 0)
        assert pathlib.Path(path).read_bytes() == whole


def test_what_is_collected_counts_in_the_memory(model):
    made = recipe("tail")
    trainer = microzo.Trainer(model, made)
    plan = trainer.memory(live=True)
    batch = 8
    assert plan.parts["collected samples"] == (WINDOW + batch) * (model.sample_len + 2)
    state = plan.parts["trained values"]
    assert plan.parts["undo of a step"] == state + plan.parts["gradients"]
    assert plan.total > trainer.memory().total
    feed(trainer, [(bytes(model.sample_len), 0)])
    assert trainer.program["live"] == WINDOW


def test_a_run_on_data_takes_no_notice_of_live(model, data):
    trainer = microzo.Trainer(model, recipe("head"))
    assert len(list(trainer.run(data))) == 10 and trainer.finished
    assert "live" not in trainer.program
