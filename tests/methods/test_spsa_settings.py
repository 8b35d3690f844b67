"""Optional settings of zeroth-order stages: what they move, that they replay, what they refuse."""

import numpy as np
import pytest
import small

import microzo
from microzo.journal import record
from microzo.kernel import python as pykernels
from microzo.net import arena
from microzo.net import words as L
from microzo.zo import directions, masks, objective, perturbed_copy
from microzo.zo import factors as rows
from microzo.zo import probe as probes
from microzo.zo import shaped_update as updates
from microzo_host import native
from microzo_host import reference as oracle

VARIANTS = (
    {"mask": "random", "one_in": 4},
    {"mask": "channel", "one_in": 2, "factors": "qas"},
    {"mask": "small", "antithetic": 0},
    {"mask": "large", "by_layer": 1, "norm_scaling": "root"},
    {"direction": "gauss", "wide": 1},
    {"direction": "sign", "eps_shift": 2},
    {"factors": "kernel", "rule": "sign", "clip": 64},
    {"round": "nearest"},
    {"round": "stochastic"},
    {"round": "feedback"},
    {"guided": 1},
    {"sharp": 4},
    {"guided": 1, "sharp": 2, "direction": "gauss", "factors": "qas", "mask": "random"},
    {"guided": 1, "antithetic": 0},
    {"guided": 1, "share": 1},
    {"guided": 1, "by_layer": 1},
    {"sharp": 4, "share": 1, "mask": "channel", "one_in": 2},
)
ELASTIC = (
    {"mask": "random"},
    {"direction": "gauss", "factors": "qas"},
    {"antithetic": 0},
    {"share": 1},
    {"by_layer": 1},
    {"share": 1, "sharp": 4, "guided": 1},
    {"antithetic": 0, "mask": "random", "by_layer": 1, "rule": "spread"},
)


def recipe(name="spsa", **changes):
    made = small.short(name)
    made["stages"][-1].update(guard="", **changes)
    return made


@pytest.mark.parametrize("changes", VARIANTS, ids=str)
def test_every_setting_gives_the_oracle_s_bits_and_replays(
    changes, tmp_path, model_path, data, with_kernels
):
    kernels = native, oracle
    made = recipe(**changes)
    found = list(small.states(kernels, with_kernels, tmp_path, model_path, data, made))
    assert found[0] == found[1]
    plain = microzo.load(model_path)
    small.train(plain, data, recipe())
    assert bytes(plain.state) != found[0]


@pytest.mark.parametrize("changes", ELASTIC, ids=str)
def test_elastic_with_settings_replays(changes, tmp_path, model_path, data):
    small.replays_with_its_data_alone(tmp_path, model_path, data, recipe("elastic", **changes))


@pytest.mark.parametrize("changes", ELASTIC, ids=str)
def test_elastic_with_settings_has_the_same_bits_on_every_kernel_module(
    changes, model_path, data, with_kernels
):
    made = recipe("elastic", steps=3, probes=2, samples=2, **changes)
    states = []
    for module in (native, oracle, pykernels):
        with_kernels(module)
        model = microzo.load(model_path)
        small.train(model, data, made)
        states.append(bytes(model.state))
    assert states[0] == states[1] == states[2]


@pytest.mark.parametrize("changes", ({"antithetic": 0}, {"share": 1}), ids=str)
def test_every_probe_of_elastic_gives_the_head_a_gradient(changes, tmp_path, model_path, data):
    """The samples of a step stand once in its record, also where its probes share them."""
    path = str(tmp_path / "run")
    made = recipe("elastic", probes=3, samples=2, **changes)
    small.train(microzo.load(model_path), data, made, journal=path)
    lengths = {len(rec) for rec in small.records(path, record.STEP)}
    assert lengths == {record.HEADER + 2 * 3 + 2 * 2 + record.CRC}


@pytest.mark.parametrize(
    "name, changes",
    [("spsa", {"guided": 1}), ("spsa", {"sharp": 4}), ("spsa", {"mask": "random"})]
    + [("elastic", changes) for changes in ELASTIC],
    ids=str,
)
@pytest.mark.parametrize("stop, checkpoint_every", [(1, 25), (3, 25), (3, 2), (4, 2), (5, 3)])
def test_a_run_that_is_cut_goes_on_to_the_same_bits(
    name, changes, stop, checkpoint_every, tmp_path, model_path, data
):
    whole = microzo.load(model_path)
    small.train(whole, data, recipe(name, **changes))
    path = str(tmp_path / "run")
    trainer = microzo.Trainer(
        microzo.load(model_path), recipe(name, **changes), journal=path,
        checkpoint_every=checkpoint_every,
    )  # fmt: skip
    steps = trainer.run(data)
    for _ in range(stop):
        next(steps)
    steps.close()
    del steps, trainer
    model = microzo.load(model_path)
    for _ in microzo.resume(model, path).run(data):
        pass
    assert bytes(model.state) == bytes(whole.state)


def moved(model_path, data, **changes):
    """For operators 0, 1, 2 and 4: which weights a run moved."""
    model = microzo.load(model_path)
    settings = {"shift": -4, "first_shift": -4, "schedule": "constant", **changes}
    small.train(model, data, recipe(**settings))
    found = {}
    for op in (0, 1, 2, 4):
        o = L.op_base(op)
        at = model.plan[o + L.MASTER_OFF]
        n = arena.weights(model.plan, op)
        now = np.frombuffer(bytes(model.state), np.int16, n, at)
        w = np.frombuffer(bytes(model.blob), np.int8, n, model.plan[o + L.W_OFF])
        found[op] = (now != w.astype(int) * 256, w, n // model.plan[o + L.OUT_C])
    return found


def test_random_moves_one_weight_of_every_group(model_path, data):
    for hit, _, _ in moved(model_path, data, mask="random", one_in=4).values():
        groups = [hit[i : i + 4].sum() for i in range(0, len(hit), 4)]
        assert max(groups) == 1 and sum(groups) >= 0.7 * len(groups)


def test_channel_moves_whole_channels(model_path, data):
    for hit, _, row in moved(model_path, data, mask="channel", one_in=2).values():
        channels = hit.reshape(-1, row)
        assert channels.any(1).sum() == len(channels) // 2
        assert channels[channels.any(1)].mean() >= 0.4


@pytest.mark.parametrize("name", ("small", "large"))
def test_magnitude_masks_move_the_least_or_the_largest(name, model_path, data):
    for hit, w, _ in moved(model_path, data, mask=name, one_in=5).values():
        size = np.abs(w.astype(int)) if name == "small" else -np.abs(w.astype(int))
        allowed = size <= np.sort(size)[(len(w) + 4) // 5 - 1]
        assert allowed[hit].all()
        assert hit.sum() >= 0.4 * allowed.sum()  # one at +-127 has a single way to go


OPS = [0, 1, 2, 4]


def spec_of(ops=OPS, **changes):
    """A resolved spsa stage that trains `ops`."""
    stage = dict(microzo.recipe("spsa")["stages"][0], **changes)
    return dict(stage, ops=list(ops), lo=ops[0], hi=ops[-1] + 1, first=ops[0])


def indices(made, ops=(0, 2)):
    found = []
    for op in ops:
        made.select(op)
        n = made.take()
        while n:
            found.append((op, made.indices[:n].tolist()))
            n = made.take()
    return found


@pytest.mark.parametrize("kind", ("random", "channel", "small", "large"))
def test_a_mask_depends_on_seed_and_file_alone(kind, model):
    model.place([(i, 7) for i in OPS])
    spec = spec_of(mask=kind, one_in=3)
    first = indices(masks.Mask(model, spec, 77, OPS))
    for i in range(len(model.state)):
        model.state[i] = i & 255
    assert indices(masks.Mask(model, spec, 77, OPS)) == first
    other = indices(masks.Mask(model, spec, 78, OPS))
    assert (other != first) == (kind in ("random", "channel"))


@pytest.mark.parametrize("wide", (0, 1))
@pytest.mark.parametrize("train", (("weights", "biases"), ("weights", "biases", "scales")))
def test_perturbing_leaves_the_values_alone_and_is_that_of_the_kernel(wide, train, model, data):
    """Without any shaping the copy's passes are those of `probe`, where no weight is so near its
    limit that the copy's ends there."""
    model.place([(i, 7) for i in OPS])
    model.relayout(0)
    for op in OPS:
        n, at = arena.weights(model.plan, op), model.plan[L.op_base(op) + L.MASTER_OFF]
        values = np.frombuffer(memoryview(model.state), np.int16)[at // 2 : at // 2 + n]
        values[...] = np.clip(values, -90 * 256, 90 * 256)
    sample = bytearray(model.sample_len)
    label = data.read_into(0, sample)
    before = bytes(model.state)
    spec = spec_of(direction="sign", train=train, wide=wide)
    pieces = (
        probes.KernelSigns(model, spec, 77, False),
        perturbed_copy.Copy(model, spec, 77, objective.CrossEntropy(model)),
    )
    losses = []
    for probe in pieces:
        for step in range(4):
            model.input(sample)
            probe.begin(step)
            probe.start(step, 0)
            probe.measure(label)
            losses.append(probe.out[:2].tolist())
    assert bytes(model.state) == before
    assert losses[:4] == losses[4:]
    assert max(abs(plus - minus) for plus, minus in losses) > 64


def test_gaussian_directions_have_the_moments_of_one():
    k = microzo.kernels()
    made = directions.Directions(k, True)
    z = np.zeros(20000)
    pairs = np.zeros(32, np.int32)
    assert made.fill(pairs, 0, 123, 1) == 16 and len(set(pairs[::2])) == 16
    row = np.zeros(len(z), np.int8)
    for seed in pairs[::2]:
        k.signs(int(seed), 0, 0, len(z), row)
        z += row
    z /= 1 << made.down
    assert abs(z.mean()) < 0.03 and abs(z.std() - 1) < 0.03
    assert abs((z**4).mean() - 3) < 0.25  # a sign has 1, a uniform number 1.8
    assert (abs(z) > 2).mean() > 0.02 and abs(z).max() <= 4


def masters(model):
    return np.frombuffer(bytes(model.state), np.int16, arena.weights(model.plan, 2),
                         model.plan[L.op_base(2) + L.MASTER_OFF])  # fmt: skip


@pytest.mark.parametrize("rule", ("nearest", "stochastic"))
def test_rounded_weights_are_whole(rule, model, data):
    small.train(model, data, recipe(round=rule, train=("weights",), first_shift=-2))
    assert (masters(model) % 256 == 0).all()


def test_nearest_loses_what_stochastic_keeps_in_the_mean(model_path, data):
    """Steps of a tenth of a weight: none gets through to nearest; stochastic moves some."""
    found = {}
    for rule in ("nearest", "stochastic"):
        model = microzo.load(model_path)
        made = recipe(round=rule, train=("weights",), rule="sign", clip=25, probes=4, samples=8,
                      steps=1, shift=0, first_shift=0, schedule="constant")  # fmt: skip
        small.train(model, data, made)
        start = microzo.load(model_path)
        start.place([(2, 1)])
        found[rule] = (masters(model) != masters(start)).mean()
    assert found["nearest"] == 0
    assert 0.02 < found["stochastic"] < 0.5


def test_stochastic_rounding_has_no_bias(model):
    model.place([(2, 1)])
    spec = spec_of([2], train=("weights",), round="stochastic")
    made = updates.ShapedUpdate(model, spec, 3)
    free = abs(masters(model)) < 127 * 256
    start = masters(model).astype(int) + 64 * free  # a quarter above whole
    up = []
    for step in range(40):
        np.frombuffer(memoryview(model.state), np.int16)[: len(start)] = start
        rec = record.new(record.STEP, 2)
        record.put32(rec, 4, step)
        made.move(rec, record.HEADER, 1, 2, 3)
        up.append((masters(model) > start)[free].mean())
    assert abs(np.mean(up) - 0.25) < 0.03


def test_feedback_fades_what_rounding_left_over(model):
    model.place([(2, 1)])
    made = updates.ShapedUpdate(model, spec_of([2], train=("weights",), round="feedback"), 3)
    whole = masters(model).astype(int)
    free = abs(whole) < 127 * 256
    for rest, kept in ((64, 56), (-64, -56), (127, 112), (-128, -112), (5, 5), (-5, -5)):
        np.frombuffer(memoryview(model.state), np.int16)[: len(whole)] = whole + rest * free
        made.move(record.new(record.STEP, 2), record.HEADER, 1, 2, 3)
        assert set((masters(model) - whole)[free]) == {kept}


def test_qas_factors_are_inverse_squares_of_the_scales(model):
    o = L.op_base(2)
    c = model.plan[o + L.OUT_C]
    mult = np.frombuffer(bytes(model.blob), np.int32, c, model.plan[o + L.M_OFF])
    shift = np.frombuffer(bytes(model.blob), np.int8, c, model.plan[o + L.S_OFF])
    want = (mult * 2.0**shift) ** -2
    found = np.array(rows.factors(model, 2, "qas"))
    assert found == pytest.approx(256 * want / want.mean(), rel=0.03, abs=2)
    assert found.max() > 1.2 * found.min()


def test_kernel_factors_follow_the_kernels_lengths(model):
    o = L.op_base(2)
    n = arena.weights(model.plan, 2)
    w = np.frombuffer(bytes(model.blob), np.int8, n, model.plan[o + L.W_OFF]).astype(float)
    want = np.linalg.norm(w.reshape(model.plan[o + L.OUT_C], -1), axis=1)
    assert np.array(rows.factors(model, 2, "kernel")) == pytest.approx(
        256 * want / want.mean(), abs=2
    )


def test_a_guided_record_moves_along_the_last_step(tmp_path, model_path, data):
    """Its first fresh coefficient is 0; the second half repeats the last step's pattern."""
    path = str(tmp_path / "run")
    small.train(microzo.load(model_path), data, recipe(guided=1), journal=path)
    found = [
        [record.get16s(rec, record.HEADER + 2 * i) for i in range(6)]
        for rec in small.records(path, record.STEP)
    ]
    assert found[0][3:] == [0, 0, 0] and any(found[0])
    along = [(a, b) for a, b in zip(found, found[1:], strict=False) if any(b[3:])]
    assert along
    for before, now in along:
        assert now[0] == 0
        ratio = np.array(now[3:]) / np.where(before[:3], before[:3], 1)
        used = np.abs(before[:3]) > 20
        assert np.ptp(ratio[used]) <= 0.2 * np.abs(ratio[used]).max() + 0.1


@pytest.mark.parametrize(
    "changes, named",
    (
        ({"mask": "magic"}, "mask"),
        ({"mask": "random", "one_in": 1}, "one_in"),
        ({"one_in": 4}, "one_in needs a mask"),
        ({"mask": "random", "train": ("biases",)}, "mask is for weights"),
        ({"direction": "uniform"}, "direction"),
        ({"factors": "layer"}, "factors"),
        ({"round": "up"}, "round"),
        ({"guided": 1, "probes": 33, "samples": 1}, "guided takes at most 32 probes"),
        ({"mask": "random", "eps_shift": 9}, "eps_shift is at most 8"),
        ({"sharp": 65}, "sharp"),
        ({"top": 3}, "pick"),
        ({"colour": 1}, "colour"),
    ),
)
def test_bad_settings_name_the_key(changes, named, model):
    with pytest.raises(ValueError, match=named):
        microzo.Trainer(model, recipe(**changes))


def test_below_one_lsb_only_16_bit_weights_see_a_difference(model_path, data):
    found = []
    for changes in ({"direction": "sign", "round": "nearest"}, {"wide": 1}):
        made = recipe(train=("weights",), eps_shift=4, samples=8, **changes)
        stage = small.begun(microzo.load(model_path), data, made).stage()
        stage.measure(0)
        found.append(any(stage.diffs))
    assert found == [False, True]


def test_the_plan_counts_the_copy(model):
    plain = microzo.Trainer(model, recipe()).memory()
    masked = microzo.Trainer(model, recipe(mask="random")).memory()
    assert masked.total - plain.total > plain.parts["trained values"]
