"""Without labels: entropy and statistics, the guard that needs none, realign by single samples."""

import numpy as np
import pytest
import small

import microzo
from microzo.journal import record
from microzo.kernel import python as pykernels
from microzo.net import words as L
from microzo.train.free_guard import FreeGuard
from microzo.zo import confidence
from microzo_host import native
from microzo_host import reference as oracle

QUICK = {"steps": 3, "probes": 2, "samples": 2}


def set_logits(model, logits):
    at = model.plan[L.LOGITS_OFF]
    np.frombuffer(memoryview(model.arena), np.uint8)[at : at + 4 * len(logits)] = np.frombuffer(
        np.array(logits, np.int32).tobytes(), np.uint8
    )


def softmax(logits):
    z = np.exp((np.array(logits) - max(logits)) / 4096)
    return z / z.sum()


@pytest.mark.parametrize("seed", range(5))
def test_entropy_and_information_are_those_of_the_softmax(seed, model):
    rng = np.random.Generator(np.random.PCG64(seed))
    found, shares = confidence.Confidence(model), []
    for _ in range(20):
        logits = rng.integers(-20000, 20000, small.CLASSES).tolist()
        set_logits(model, logits)
        found.take()
        p = softmax(logits)
        shares.append(p)
        entropy = -(p * np.log(p)).sum()
        assert found.entropy / 4096 == pytest.approx(entropy, abs=0.01)
    mean = np.mean(shares, 0)
    each = np.mean([-(p * np.log(p)).sum() for p in shares])
    want = -(mean * np.log(mean)).sum() - each
    assert found.information() / 256 == pytest.approx(want, abs=0.03)


def test_one_class_for_all_says_nothing(model):
    found = confidence.Confidence(model)
    for _ in range(10):
        set_logits(model, [80000, 0, 0, 0])
        found.take()
    assert found.entropy == 0 and found.information() <= 1


def test_logits_at_their_limits(model):
    found = confidence.Confidence(model)
    set_logits(model, [1 << 20, -(1 << 20), 0, -1])
    found.take()
    assert found.entropy == 0


@pytest.fixture
def unlabelled(data_paths):
    source = microzo.Dataset(data_paths[0])
    yield source
    source.close()


@pytest.mark.parametrize(
    "changes",
    (
        {},
        {"stats": 0, "train": ("weights", "biases")},
        {"mask": "random", "train": ("weights", "biases")},
        {"antithetic": 0},
        {"share": 1},
        {"antithetic": 0, "stats": 0},
        {"share": 1, "stats": 0, "by_layer": 1},
        {"share": 1, "guided": 1, "sharp": 2, "train": ("weights",)},
    ),
    ids=str,
)
def test_entropy_replays_without_labels_on_every_backend(
    changes, tmp_path, model_path, mild, with_kernels
):
    found = []
    for module in (native, oracle, pykernels):
        with_kernels(module)
        made = small.short("entropy", samples=6)
        made["stages"][-1].update(guard="", **QUICK, **changes)
        model, path = microzo.load(model_path), str(tmp_path / module.__name__)
        trainer = small.train(model, mild, made, journal=path)
        assert [s["kind"] for s in trainer.program["stages"]] == ["realign", "entropy"]
        copy = microzo.load(model_path)
        assert microzo.replay(copy, path) is True
        assert bytes(copy.state) == bytes(model.state)
        found.append(bytes(model.state))
    assert found[0] == found[1] == found[2]
    model = microzo.load(model_path)  # and the stage moves something
    made["stages"] = made["stages"][:1]
    small.train(model, mild, made)
    assert small.state_crc(model) != small.state_crc(copy)


@pytest.mark.parametrize("changes", ({"antithetic": 0}, {"share": 1}), ids=str)
def test_entropy_s_probes_see_the_same_samples(changes, model, mild):
    """One after another, as each takes statistics over all of them; the count is that of one."""
    made = small.short("entropy")
    made["stages"][-1].update(guard="", steps=1, probes=3, samples=4, **changes)
    *_, step = microzo.Trainer(model, made).run(mild)
    assert step.stage == "entropy" and step.count == 4


@pytest.fixture
def mild():
    """Images without labels and without a shift: on the shifted ones the small network tells
    every sample the same, at no entropy."""
    return microzo.ArrayData(small.images(60, 11))


def objective(model, data, stats):
    """Mean entropy, and mismatch of the pointwise convolution's statistics, in nats."""
    op, n = 2, len(data)
    o = L.op_base(op)
    c = model.plan[o + L.OUT_C]
    sums, found = np.zeros(2 * c, np.int64), confidence.Confidence(model)
    sample = bytearray(model.sample_len)
    for i in range(n):
        data.read_into(i, sample)
        model.input(sample)
        model.forward(0, op)
        model.k.stats(model.plan, model.blob, model.state, model.arena, op, 0, sums)
        model.forward(op)
        found.take()
    out = np.zeros(2 * c, np.int32)
    positions = model.plan[o + L.OUT_H] * model.plan[o + L.OUT_W]
    model.k.stats_finish(n * positions, 0, sums, out)
    at = model.plan[o + L.STAT_OFF]
    clean = np.frombuffer(bytes(model.blob), np.int32, 2 * c, at).astype(float)
    sd0, out = clean[c:], out.astype(float)
    used = sd0 > 16
    gap = 16 * abs(out[:c] - clean[:c]) + abs(out[c:] - sd0)
    mismatch = np.minimum(4, gap[used] / sd0[used]).sum() / c
    return found.total / found.count / 256 + stats / 16 * mismatch


@pytest.mark.parametrize("stats", (0, 32))
def test_the_entropy_stage_lowers_its_objective(stats, model, mild):
    made = small.short("entropy")
    made["stages"] = made["stages"][1:]
    made["stages"][0].update(guard="", stats=stats, steps=60, probes=8, samples=8, shift=0,
                             first_shift=0)  # fmt: skip
    before = objective(model, mild, stats)
    small.train(model, mild, made)
    assert objective(model, mild, stats) < before - 0.02


def collapse(model):
    """The head's bias makes one class the answer to all."""
    o = L.op_base(4)
    at = model.plan[o + L.BIAS_OFF]
    np.frombuffer(memoryview(model.state), np.int32)[at // 4] = model.plan[o + L.B_MAX]


def test_a_collapse_lowers_entropy_and_is_told_apart(model, mild):
    model.place([(4, 3)])
    guard = FreeGuard(model, mild, range(40))
    before = guard.score()
    collapse(model)
    after = guard.score()
    assert after.loss < before.loss  # what entropy alone would call better
    assert after.correct < before.correct // 4 and not after.better_than(before, False)


def test_realign_of_a_collapsed_network_is_kept_without_labels(model, unlabelled):
    """Shifted images look the same to it; that predictions differ raises their entropy, too."""
    made = small.short("entropy")
    made["stages"] = made["stages"][:1]
    scores = []
    for _ in range(2):
        score = FreeGuard(model, unlabelled, range(40)).score()
        scores.append((score.correct, score.loss))
        if len(scores) == 1:
            (line,) = small.train(model, unlabelled, made).outcomes()
    assert scores[1][0] > scores[0][0] and scores[1][1] > scores[0][1]
    assert line.startswith("realign kept: information")


def test_a_harmful_stage_is_rolled_back_without_labels(model, mild, tmp_path):
    made = small.short("entropy")
    made["stages"] = made["stages"][1:]
    everything = ("weights", "biases", "scales")
    made["stages"][0].update(
        steps=20, shift=-7, first_shift=-7, clip=255, train=everything, stats=0
    )
    untouched = microzo.load(model.path)
    path = str(tmp_path / "run")
    trainer = small.train(model, mild, made, journal=path)
    (line,) = trainer.outcomes()
    assert "rolled back: information" in line and line.endswith("without labels")
    sample = bytearray(model.sample_len)
    for i in range(10):
        mild.read_into(i, sample)
        assert model.predict(sample) == untouched.predict(sample)
    copy = microzo.load(model.path)
    assert microzo.replay(copy, path) is True and bytes(copy.state) == bytes(model.state)


def test_realign_by_single_samples_is_realign(model_path, data_paths):
    """Of the samples that it has collected."""
    x = np.load(data_paths[0])[:20]
    whole = microzo.load(model_path)
    made = small.short("realign", samples=20)
    made["stages"][0]["guard"] = ""
    small.train(whole, microzo.ArrayData(x), made)
    model = microzo.load(model_path)
    trainer = microzo.Trainer(model, dict(made, live=20))
    steps = [trainer.step(image.tobytes(), None) for image in x]
    assert [step.learned for step in steps] == [False] * 19 + [True]
    assert bytes(model.state) == bytes(whole.state)


def test_entropy_takes_single_samples(model, tmp_path):
    x = small.images(40, 11)
    made = small.short("entropy")
    made["stages"] = made["stages"][1:]
    path = str(tmp_path / "run")
    trainer = microzo.Trainer(model, made, journal=path)
    steps = [trainer.step(image.tobytes(), None) for image in x]
    assert all(step.loss is None for step in steps)
    assert len(small.records(path, record.STEP)) == sum(step.learned for step in steps) > 1


def test_labels_stay_needed_elsewhere(model, data_paths):
    x = np.load(data_paths[0])
    with pytest.raises(ValueError, match="label None"):
        microzo.Trainer(model, small.short("spsa")).step(x[0].tobytes(), None)


def test_bad_settings_are_refused(model):
    for changes, named in (({"antithetic": 2}, "antithetic"), ({"stats": 300}, "stats")):
        made = small.short("entropy")
        made["stages"][-1].update(changes)
        with pytest.raises(ValueError, match=named):
            microzo.Trainer(model, made)
