"""Rules, schedules and sides of the zeroth-order stages; what warns; what replays."""

from array import array

import pytest
import small

import microzo
from microzo.net import words as L
from microzo.train import health as watch
from microzo.zo import rules, schedule
from microzo_host import native
from microzo_host import reference as oracle

VARIANTS = (
    {"antithetic": 0},
    {"rule": "sign", "clip": 40},
    {"rule": "spread", "schedule": "cosine"},
    {"schedule": "constant", "wide": 1, "eps_shift": 1},
    {"antithetic": 0, "wide": 1, "rule": "spread"},
    {"probes": 6, "samples": 1},
    {"by_layer": 1, "norm_scaling": "root", "antithetic": 0, "rule": "spread"},
    {"share": 1},
    {"share": 1, "by_layer": 1, "wide": 1},
)


def recipe(name="spsa", **changes):
    made = small.short(name)
    made["stages"][-1].update(changes)
    return made


@pytest.mark.parametrize("changes", VARIANTS, ids=str)
def test_every_variant_gives_the_oracle_s_bits_and_replays(
    changes, tmp_path, model_path, data, with_kernels
):
    kernels = native, oracle
    made = recipe(**changes)
    found = list(small.states(kernels, with_kernels, tmp_path, model_path, data, made))
    assert found[0] == found[1]


def test_elastic_replays_with_its_data_alone(tmp_path, model_path, data):
    small.replays_with_its_data_alone(tmp_path, model_path, data, recipe("elastic", guard=""))


def test_elastic_moves_the_body_as_spsa_does(model_path, data):
    found = []
    for name in ("elastic", "spsa"):
        made = recipe(name, guard="", steps=1)
        model = microzo.load(model_path)
        trainer = small.train(model, data, made, layers=[0, 1, 2])
        plan = model.plan
        places = [plan[L.op_base(i) + L.MASTER_OFF] for i in (0, 1, 2)]
        found.append([bytes(model.state)[at : at + 48] for at in places])
        assert model.trained and len(trainer.outcomes()) == 1
    assert found[0] == found[1]


def test_elastic_trains_body_and_head(model, data):
    trainer = microzo.Trainer(model, small.short("elastic"))
    spec = next(iter(trainer.run(data))) and trainer.program["stages"][0]
    assert spec["ops"] == [0, 1, 2] and spec["head"] == 4 and spec["hi"] == 3


def test_one_sided_probes_share_a_clean_loss(model, data):
    (step,) = microzo.Trainer(model, recipe(antithetic=0, steps=1, probes=5, samples=2)).run(data)
    assert step.count == 2


def test_probes_share_samples(model, data):
    (step,) = microzo.Trainer(model, recipe(share=1, steps=1, probes=5, samples=2)).run(data)
    assert step.count == 2


@pytest.mark.parametrize("changes", ({"share": 1}, {"antithetic": 0}), ids=str)
def test_shared_samples_give_the_differences_of_single_probes(changes, model, data):
    """Each probe of the step, made alone on the samples of the step."""
    made = recipe(steps=1, probes=3, samples=4, guard="", **changes)
    stage = small.begun(model, data, made, [4]).stage()
    stage.measure(0)
    one_sided = not stage.spec["antithetic"]
    out, wanted = array("i", (0, 0)), [0] * 3
    for i in range(4):
        for p in range(3):
            stage.samples.load(i)
            k, m = model.k, model
            seed = k.derive(stage.seed, 0, p)
            params = array("i", (4, seed, stage.samples.label, 2 * one_sided, 3, 4, 5, 0))
            k.probe(m.plan, m.blob, m.state, m.arena, params, out)
            wanted[p] += out[0] - out[1]
            if one_sided:
                params[5] = params[6] = 0  # nothing is perturbed
                k.probe(m.plan, m.blob, m.state, m.arena, params, out)
                wanted[p] -= out[0]
    assert any(wanted) and stage.diffs.tolist() == wanted


@pytest.mark.parametrize(
    "rule, made",
    (("value", [6, -7, 0, 1]), ("sign", [50, -50, 50, 50]), ("spread", [50, -50, 50, 50])),
)
def test_rules(rule, made):
    diffs = array("i", (100, -100, 10, 30))
    rules.RULES[rule](diffs, 4, 50)
    assert diffs.tolist() == made or rule == "spread"
    if rule == "spread":
        diffs = array("i", (100, -100, 10, 30))
        rules.RULES[rule](diffs, 4, 2000)
        assert diffs.tolist() == [426, -427, 42, 128]  # 60 is the mean absolute value


def test_spread_does_not_depend_on_the_scale_of_the_loss():
    small_diffs, large = array("i", (3, -9, 6)), array("i", (300, -900, 600))
    for diffs in (small_diffs, large):
        rules.spread(diffs, 3, 2000)
    assert small_diffs.tolist() == large.tolist()


def test_cosine_falls_from_one_to_zero():
    factors = [schedule.cosine(t, 100) for t in range(100)]
    assert factors[0] == 256 and factors[50] == 128 and factors[-1] <= 2
    assert factors == sorted(factors, reverse=True)


def warnings_of(model, data, **changes):
    trainer = microzo.Trainer(model, recipe(steps=20, **changes))
    return {step.warning for step in trainer.run(data)}


def test_a_step_that_is_too_small_warns(model, data):
    assert watch.STILL in warnings_of(model, data, shift=28, first_shift=28)


def test_a_perturbation_that_is_too_small_warns(model, data):
    assert watch.EQUAL in warnings_of(model, data, train=("weights",), wide=1, eps_shift=31)


def test_weights_at_their_limit_warn(model, data):
    found = warnings_of(
        model, data, rule="sign", clip=8192, shift=0, first_shift=0, schedule="constant"
    )
    assert watch.FULL in found


def test_a_usual_run_does_not_warn(model, data):
    assert warnings_of(model, data) == {""}


def test_by_layer_moves_one_operator_a_step(model, data):
    trainer = microzo.Trainer(
        model,
        recipe(by_layer=1, guard="", train=("weights",), first_shift=-4, schedule="constant"),
    )
    before, moved = None, []
    plan = model.plan
    for _ in trainer.run(data):
        state = bytes(model.state)
        if before is not None:
            ends = [plan[L.op_base(i) + L.MASTER_OFF] for i in (0, 1, 2, 4)] + [len(state)]
            moved.append([state[a:b] != before[a:b] for a, b in zip(ends, ends[1:], strict=False)])
        before = state
    assert [m.index(True) for m in moved] == [1, 2, 3, 0, 1] and all(sum(m) == 1 for m in moved)


@pytest.mark.parametrize(
    ("kind", "wanted"), [("", [0, 0, 0]), ("root", [0, 3, 7]), ("plain", [0, 6, 14])]
)
def test_norm_scaling_is_the_log_of_its_factor_or_half_of_it(kind, wanted):
    sizes = ((1, 1), (1, 64), (1, 1 << 14))
    assert [schedule.norm_scaling(kind, q, d) for q, d in sizes] == wanted


@pytest.mark.parametrize(
    ("changes", "named"),
    (
        ({"antithetic": 2}, "antithetic is 0..1, not 2"),
        ({"rule": "magic"}, "rule is .* not 'magic'"),
        ({"schedule": "magic"}, "schedule is .* not 'magic'"),
        ({"schedule": "cosine", "clip": 4000}, "with a cosine schedule takes a clip"),
        ({"share": 2}, "share is 0..1, not 2"),
        ({"sides": 1}, "no setting 'sides'"),
    ),
)
def test_bad_settings_are_refused(changes, named, model):
    with pytest.raises(ValueError, match=f"spsa.*{named}"):
        microzo.Trainer(model, recipe(**changes))
