"""refilter: the Wiener filter of SPEC.md 1.11 folded into the first convolution."""

from array import array

import numpy as np
import pytest
import small

import microzo
from microzo.journal import record
from microzo.methods import wiener
from microzo.net import arena as planner
from microzo.net import words as L
from microzo_host.model import file as modelfile
from microzo_host.model import quantize
from microzo_host.model.network import Layer, Network


def colour_network(seed=4, side=9):
    """A 3x3 convolution of three channels (27 values a patch), pool, dense."""
    rng = np.random.Generator(np.random.PCG64(seed))

    def w(*shape):
        return (rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)

    layers = [
        Layer("conv", "stem", (0,), w(5, 3, 3, 3), np.zeros(5, np.float32), pads=(1, 1, 1, 1),
              activation="relu"),
        Layer("globalpool", "pool", (1,)),
        Layer("dense", "head", (2,), w(4, 1, 1, 5), np.zeros(4, np.float32)),
    ]  # fmt: skip
    return Network((side, side, 3), layers, "colour")


def smooth(n, seed, side=9):
    """uint8 (n, side, side, 3) whose neighbours are alike."""
    rng = np.random.Generator(np.random.PCG64(seed))
    x = rng.standard_normal((n, side + 4, side + 4, 3))
    x = sum(x[:, i : i + side, j : j + side] for i in range(5) for j in range(5)) / 5
    x += rng.standard_normal((n, 1, 1, 3)) / 2
    return np.clip(128 + 40 * x, 0, 255).astype(np.uint8)


def noisy(images, seed, level=50):
    rng = np.random.Generator(np.random.PCG64(seed))
    return np.clip(images + level * rng.standard_normal(images.shape), 0, 255).astype(np.uint8)


@pytest.fixture
def colour(tmp_path):
    path = tmp_path / "colour.safetensors"
    modelfile.write(path, quantize.quantize(colour_network(), smooth(200, 1)))
    return microzo.load(str(path))


def patches(model, images):
    """int64 (n, K): every patch that lies inside an image, as the first operator sees it."""
    o = L.op_base(0)
    high, wide = model.plan[o + L.K_H], model.plan[o + L.K_W]
    rows = []
    for image in images:
        model.input(image.tobytes())
        x = np.frombuffer(model.arena, np.int8, image.size, model.plan[o + L.IN_OFF])
        x = x.reshape(image.shape)
        windows = np.lib.stride_tricks.sliding_window_view(x, (high, wide), (0, 1))
        rows.append(windows.transpose(0, 1, 3, 4, 2).reshape(-1, high * wide * image.shape[2]))
    return np.concatenate(rows).astype(np.int64)


def solved(model, rows, ridge=10, alpha=256):
    """int16 (C, K) masters that wiener.solve makes from patches."""
    o = L.op_base(0)
    k = rows.shape[1]
    products = (rows.T @ rows)[np.tril_indices(k)]
    out = bytearray(2 * model.plan[o + L.OUT_C] * k)
    sums = array("i", rows.sum(axis=0).tolist())
    room = array("q", bytes(8 * len(products)))
    wiener.solve(model, sums, array("i", products.tolist()), room, len(rows), ridge, alpha, out)
    return np.frombuffer(out, np.int16).reshape(-1, k)


def clean_covariance(model):
    k = planner.row_len(model.plan, L.op_base(0))
    at = model.plan[L.COV_OFF]
    low = np.frombuffer(bytes(model.blob[at : at + 2 * k * (k + 1)]), np.int32)
    full = np.zeros((k, k))
    full[np.tril_indices(k)] = low / 256
    return full + np.tril(full, -1).T


def filters(model):
    o = L.op_base(0)
    k = planner.row_len(model.plan, o)
    at = model.plan[o + L.W_OFF]
    raw = bytes(model.blob[at : at + k * model.plan[o + L.OUT_C]])
    return np.frombuffer(raw, np.int8).reshape(-1, k).astype(float)


def scaled(rows):
    return rows / np.abs(rows).max(axis=1, keepdims=True)


@pytest.mark.parametrize("ridge", (0, 4, 10))
@pytest.mark.parametrize("alpha", (64, 256))
def test_it_is_the_wiener_filter(colour, ridge, alpha):
    rows = patches(colour, noisy(smooth(60, 2), 3))
    clean = clean_covariance(colour)
    k = len(clean)
    least = np.trace(clean) / k / 2**ridge * np.eye(k)
    w = filters(colour)
    wanted = w @ (clean + least) @ np.linalg.inv(np.cov(rows.T, bias=True) + least)
    wanted = w + alpha / 256 * (wanted - w)
    got = solved(colour, rows, ridge, alpha)
    assert np.abs(got).max(axis=1).tolist() == [32512] * len(got)
    np.testing.assert_allclose(got / 32512, scaled(wanted), atol=2e-3)


def test_clean_input_changes_little_and_noise_is_smoothed(colour):
    same = scaled(solved(colour, patches(colour, smooth(200, 1))).astype(float))
    np.testing.assert_allclose(same, scaled(filters(colour)), atol=0.02)
    images = smooth(200, 2)
    clean, now = patches(colour, images), patches(colour, noisy(images, 3))
    w = filters(colour)
    made = solved(colour, now).astype(float)
    for before, after in zip(w, made, strict=True):
        wanted = clean @ before
        kept = abs(np.corrcoef(now @ before, wanted)[0, 1])
        assert np.corrcoef(now @ after, wanted)[0, 1] > kept


def test_what_no_patch_shows_is_no_division_by_zero(colour):
    flat = np.zeros((50, 27), np.int64)
    assert np.abs(solved(colour, flat)).max(axis=1).tolist() == [32512] * 5
    one = flat.copy()
    one[:, 3] = np.arange(50) - 128
    assert np.abs(solved(colour, one, 20)).max() == 32512


def run(model, data, recipe, tmp_path, name="j"):
    journal = str(tmp_path / name)
    trainer = microzo.Trainer(model, recipe=recipe, seed=5, journal=journal)
    for _ in trainer.run(data):
        pass
    return trainer, journal


def shifted():
    images = noisy(smooth(80, 2), 3)
    return microzo.ArrayData(images, np.arange(80, dtype=np.uint8) % 4)


def recipe(**changes):
    made = microzo.recipe("refilter")
    made["samples"] = 80
    made["stages"] = [dict(stage, guard="") for stage in made["stages"]]
    made["stages"][1].update(changes)
    return made


def test_the_stage_brings_statistics_back_through_the_new_filters(colour, tmp_path):
    trainer, journal = run(colour, shifted(), recipe(), tmp_path)
    o = L.op_base(0)
    at = colour.plan[o + L.MASTER_OFF]
    got = np.frombuffer(bytes(colour.state[at : at + 2 * 5 * 27]), np.int16).reshape(5, 27)
    rows = patches(colour, noisy(smooth(80, 2), 3))
    for one, wanted in zip(got, solved(colour, rows), strict=True):  # of 16 patches a sample
        assert np.corrcoef(one, wanted)[0, 1] > 0.9
    sums = array("q", bytes(16 * 5))
    for image in noisy(smooth(80, 2), 3):
        colour.input(image.tobytes())
        colour.k.stats(colour.plan, colour.blob, colour.state, colour.arena, 0, 0, sums)
    stats = array("i", bytes(8 * 5))
    colour.k.stats_finish(80 * 81, 0, sums, stats)
    # the mean in output LSB is that of the clean images: accumulator * mult
    ms = colour.plan[o + L.MS_OFF]
    mult = np.frombuffer(bytes(colour.state[ms : ms + 20]), np.int32).astype(float)
    shift = np.frombuffer(bytes(colour.state[ms + 20 : ms + 25]), np.int8)
    start = colour.plan[o + L.STAT_OFF]
    clean = np.frombuffer(bytes(colour.blob[start : start + 40]), np.int32)
    start = colour.plan[o + L.M_OFF]
    mult0 = np.frombuffer(bytes(colour.blob[start : start + 20]), np.int32).astype(float)
    start = colour.plan[o + L.S_OFF]
    shift0 = np.frombuffer(bytes(colour.blob[start : start + 5]), np.int8)
    now = np.array(stats).reshape(2, 5) * (mult * 2.0**shift) / 2**31
    then = clean.reshape(2, 5) * (mult0 * 2.0**shift0) / 2**31
    np.testing.assert_allclose(now[0], then[0], atol=1.0)
    np.testing.assert_allclose(now[1], then[1], rtol=0.05)
    assert trainer.outcomes()[1].startswith("refilter")
    again = microzo.load(colour.path)
    assert microzo.replay(again, journal) is True
    assert bytes(again.state) == bytes(colour.state)


def test_an_interrupted_run_ends_in_the_same_bits(colour, tmp_path):
    _, journal = run(colour, shifted(), recipe(), tmp_path)
    whole = bytes(colour.state)
    for stop in range(1, 8):
        model = microzo.load(colour.path)
        path = str(tmp_path / f"cut{stop}")
        trainer = microzo.Trainer(model, recipe=recipe(), seed=5, journal=path)
        steps = trainer.run(shifted())
        for _ in range(stop):
            if next(steps, None) is None:
                break
        del steps, trainer
        model = microzo.load(colour.path)
        trainer = microzo.resume(model, path)
        for _ in trainer.run(shifted()):
            pass
        assert bytes(model.state) == whole


def test_it_is_left_out_where_it_cannot_be(colour, tmp_path, model):
    colour.plan[L.COV_OFF] = 0
    trainer, _ = run(colour, shifted(), recipe(), tmp_path)
    assert [s["kind"] for s in trainer.program["stages"]] == ["realign"]
    assert "no refilter, the model file holds no covariance" in " ".join(trainer.program["notes"])


@pytest.mark.parametrize("guard", ("all", "held", "free", ""))
def test_without_labels_it_has_the_guard_that_needs_none(guard, colour, tmp_path):
    data = microzo.ArrayData(noisy(smooth(80, 2), 3))
    made = microzo.recipe("refilter")
    made["samples"] = 80
    made["stages"][1]["guard"] = guard
    trainer, journal = run(colour, data, made, tmp_path)
    stages = trainer.program["stages"]
    assert [(s["kind"], s["guard"]) for s in stages] == [
        ("realign", ""), ("refilter", "free" if guard else ""),
    ]  # fmt: skip
    again = microzo.load(colour.path)
    assert microzo.replay(again, journal) is True
    assert bytes(again.state) == bytes(colour.state)


def test_refilter_by_single_samples_is_refilter(colour, tmp_path):
    """Of the samples that it has collected, in the order of the draw."""
    made = recipe()
    made["stages"] = made["stages"][1:]
    made["stages"][0]["guard"] = ""
    images, labels = noisy(smooth(80, 2), 3), np.arange(80, dtype=np.uint8) % 4
    data = microzo.ArrayData(images, labels)
    order = small.draw(colour, data, 80, seed=5)
    run(colour, data, made, tmp_path, "whole")
    model = microzo.load(colour.path)
    trainer = microzo.Trainer(model, recipe=dict(made, live=80), seed=5)
    steps = [trainer.step(images[i].tobytes(), None) for i in order]
    assert [step.learned for step in steps] == [False] * 79 + [True]
    assert bytes(model.state) == bytes(colour.state)


def filter_records(journal):
    """Payloads of the records of step 0 of refilter."""
    return [
        record.payload(rec)
        for rec in small.records(journal, record.VALUES)
        if len(rec) == record.HEADER + 270 + record.CRC
    ]


def test_the_record_holds_masters(colour, tmp_path):
    _, journal = run(colour, shifted(), recipe(), tmp_path)
    at = colour.plan[L.op_base(0) + L.MASTER_OFF]
    assert [bytes(p) for p in filter_records(journal)] == [bytes(colour.state[at : at + 270])]


@pytest.mark.parametrize("cut", (0, 2))
def test_a_forged_record_of_another_length_is_refused(cut, colour, tmp_path):
    stage = small.begun(colour, shifted(), recipe(), number=1).stage()
    before = bytes(colour.state)
    rec = record.new(record.VALUES, 270 - cut, 0)
    if cut:
        with pytest.raises(ValueError, match="filters are not those of this model"):
            stage.apply(rec)
        assert bytes(colour.state) == before
    else:
        stage.apply(rec)
        assert bytes(colour.state) != before


def test_small_recipe_runs(model, data, tmp_path):
    """The network of the other tests, whose first operator has a stride."""
    trainer, journal = run(model, data, small.short("refilter"), tmp_path)
    assert [s["kind"] for s in trainer.program["stages"]] == ["realign", "refilter"]
    again = microzo.load(model.path)
    assert microzo.replay(again, journal) is True


@pytest.mark.parametrize(("channels", "made"), [(511, True), (512, False)])
def test_filters_that_no_record_can_hold_are_left_out(channels, made, tmp_path):
    net = colour_network()
    rng = np.random.Generator(np.random.PCG64(6))
    weight = rng.standard_normal((channels, 1, 1, 64)).astype(np.float32)
    head = np.ones((4, 1, 1, channels), np.float32)
    layers = [
        Layer("conv", "stem", (0,), weight, np.zeros(channels, np.float32), activation="relu"),
        net.layers[1],
        Layer("dense", "head", (2,), head, np.zeros(4, np.float32)),
    ]
    images = rng.integers(0, 256, (8, 2, 2, 64)).astype(np.uint8)
    path = tmp_path / "wide.safetensors"
    modelfile.write(path, quantize.quantize(Network((2, 2, 64), layers, "wide"), images))
    data = microzo.ArrayData(images)
    trainer = microzo.Trainer(microzo.load(str(path)), recipe=recipe())
    trainer.run(data)
    kinds = [s["kind"] for s in trainer.program["stages"]]
    assert kinds == (["realign", "refilter"] if made else ["realign"])
    assert made or "no refilter, the first convolution is too large" in trainer.program["notes"][0]


def spec_filters(n, s, a, c0, weights, ridge, alpha):
    """SPEC.md 1.11, from its text: a and c0 are full symmetric lists of lists of int."""
    k = len(s)
    c1 = [[((n * a[i][j] - s[i] * s[j]) << 8) // n**2 for j in range(k)] for i in range(k)]
    c0 = [list(row) for row in c0]
    least = max(1, sum(c0[i][i] for i in range(k)) // k >> ridge)
    for i in range(k):
        c0[i][i] += least
        c1[i][i] += least
    for p in range(k):
        d = c1[p][p]
        c1[p][p] = max(d, least)
        for i in range(k - 1, p, -1):
            f = (c1[i][p] << 16) // d if d >= least else 0
            for j in range(p + 1, i + 1):
                c1[i][j] -= f * c1[j][p] >> 16
            c1[i][p] = f
    rows = []
    for w in weights:
        b = [sum(c * x for c, x in zip(line, w, strict=True)) for line in c0]
        for i in range(k):
            for j in range(i):
                b[i] -= c1[i][j] * b[j] >> 16
        b = [(b[i] << 16) // c1[i][i] for i in range(k)]
        for i in range(k - 1, -1, -1):
            for j in range(i + 1, k):
                b[i] -= c1[j][i] * b[j] >> 16
        b = [(x << 16) + ((y - (x << 16)) * alpha >> 8) for x, y in zip(w, b, strict=True)]
        m = max(abs(x) for x in b)
        b, m = (b, m) if m else (w, 127)
        rows.append([(2 * x * 32512 + m) // (2 * m) for x in b])
    return rows


@pytest.mark.parametrize("ridge, alpha, count", [(12, 256, 16), (0, 1, 31), (8, 100, 3)])
def test_the_masters_are_those_of_the_spec(ridge, alpha, count, colour, tmp_path):
    made = recipe(ridge=ridge, alpha=alpha, patches=count)
    made["stages"] = made["stages"][1:]
    run(colour, shifted(), made, tmp_path)
    k, images = colour.k, noisy(smooth(80, 2), 3)
    seed = k.derive(5, (1 << 27) + 4, 0)  # STAGE
    rows = []
    for j, index in enumerate(small.draw(colour, shifted(), 80, seed=5)):
        for p in range(count):
            r = k.derive(seed, j, p)
            y, x = (r >> 15) % 7, (r & 32767) % 7
            rows.append(images[index, y : y + 3, x : x + 3].reshape(-1).astype(np.int64) - 128)
    rows = np.array(rows)
    clean = (clean_covariance(colour) * 256).astype(int).tolist()
    weights = filters(colour).astype(int).tolist()
    sums, products = rows.sum(axis=0).tolist(), (rows.T @ rows).tolist()
    wanted = spec_filters(len(rows), sums, products, clean, weights, ridge, alpha)
    at = colour.plan[L.op_base(0) + L.MASTER_OFF]
    got = np.frombuffer(bytes(colour.state[at : at + 270]), np.int16).reshape(5, 27)
    assert got.tolist() == wanted


@pytest.mark.parametrize("seed", range(8))
def test_a_pivot_that_rounding_spoilt_does_not_spread(colour, seed):
    """Few patches of high contrast and a ridge of 1: rank-deficient beyond what Q16 can tell."""
    rng = np.random.Generator(np.random.PCG64(seed))
    rows = rng.choice((-128, 127), (1 + seed % 4 * 5, 27)).astype(np.int64)
    got = solved(colour, rows, 20)
    assert np.abs(got).max(axis=1).tolist() == [32512] * 5
