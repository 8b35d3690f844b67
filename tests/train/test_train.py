"""Recipes: they learn, every backend gives the same bits, the guard does no harm."""

import re

import pytest
import small

import microzo
from microzo.kernel import python as pykernels
from microzo.net import trainable as selection
from microzo.net import words as L
from microzo_host import native
from microzo_host import reference as oracle

RECIPES = (
    "realign refilter head tail spsa elastic qzo-ff zoqo scales node channel pmt "
    "forward_only default"
).split()


@pytest.mark.parametrize("name", RECIPES)
def test_recipe_does_no_harm_on_its_samples(name, model, data):
    before = model.evaluate(data)
    small.train(model, data, microzo.recipe(name))
    assert float(model.evaluate(data)) >= float(before)


def test_default_gains(model, data):
    before = model.evaluate(data)
    small.train(model, data, "default")
    after = model.evaluate(data)
    assert float(after) > float(before)
    assert after.loss < before.loss


@pytest.mark.parametrize("name", small.marked(RECIPES))
def test_oracle_gives_the_bits_of_the_c_kernels(name, model_path, data, with_kernels):
    found = []
    for module in (native, oracle):
        with_kernels(module)
        model = microzo.load(model_path)
        small.train(model, data, small.short(name))
        found.append((bytes(model.state), model.k is module))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ("realign", "spsa", "qzo-ff", "scales", "node"))
def test_pure_python_gives_the_bits_of_the_c_kernels(name, model_path, data, with_kernels):
    recipe = small.short(name, samples=4)
    if name == "node":
        recipe["stages"] = recipe["stages"][1:]
        recipe["stages"][0].update(epochs=1, batch=2, probes=2)
    elif name != "realign":
        recipe["stages"][0].update(steps=2, probes=2, samples=1)
    found = []
    for module in (native, pykernels):
        with_kernels(module)
        model = microzo.load(model_path)
        small.train(model, data, recipe)
        found.append(bytes(model.state))
    assert found[0] == found[1]


def test_cache_changes_no_bit(tmp_path, model_path, data):
    found = set()
    path = tmp_path / "prefix.tmp"
    for cache, name in ((0, None), (700, None), (None, None), (0, str(path)), (700, str(path))):
        model = microzo.load(model_path)
        small.train(model, data, small.short("default"), cache=cache, cache_file=name)
        found.add(bytes(model.state))
    assert len(found) == 1 and not path.exists()


def test_cache_file_that_cannot_be_written_is_done_without(tmp_path, model, data):
    nowhere = str(tmp_path / "none" / "prefix.tmp")
    small.train(model, data, small.short("tail"), cache=0, cache_file=nowhere)
    assert model.trained


def test_seeds_differ(model_path, data):
    found = set()
    for seed in (1, 2):
        model = microzo.load(model_path)
        small.train(model, data, small.short("spsa"), seed=seed)
        found.add(bytes(model.state))
    assert len(found) == 2


def test_harmful_stage_is_rolled_back(model, data):
    recipe = small.short("spsa")
    recipe["stages"][0].update(shift=-8, first_shift=-8, clip=127, steps=20)
    untouched = model.evaluate(data)
    trainer = small.train(model, data, recipe)
    assert "rolled back" in trainer.outcomes()[0]
    assert str(model.evaluate(data)) == str(untouched)


def test_no_labels_means_realign_and_refilter(model, data_paths):
    unlabelled = microzo.Dataset(data_paths[0])
    trainer = microzo.Trainer(model)
    stages = {step.stage for step in trainer.run(unlabelled)}
    assert stages == {"realign", "refilter"}
    assert any("no labels" in note for note in trainer.program["notes"])
    assert "without labels" in trainer.outcomes()[0]


def test_steps_are_told(model, data):
    trainer = microzo.Trainer(model, small.short("default"))
    told = [str(step) for step in trainer.run(data, steps=5)]
    assert len(told) == 3 + (1 + 3) + 5
    assert (
        told[-1].startswith("step 5/5 loss ")
        and " acc " in told[-1]
        and "eta 0 s (tail)" in told[-1]
    )


def test_layers_choose_what_spsa_trains(model, data):
    trainer = small.train(model, data, small.short("spsa"), layers="last2")
    assert trainer.program["stages"][0]["ops"] == [2, 4]
    assert trainer.program["stages"][0]["first"] == 2


def test_what_was_left_out_is_told(model, data):
    trainer = small.train(model, data, small.short("head"), layers="last1")
    assert trainer.outcomes()[-1] == (
        "layers is for spsa, elastic, entropy, node stages, of which this recipe has none"
    )
    assert trainer.outcomes()[-1] in str(trainer)


@pytest.mark.parametrize("recipe", ["spsa", "head", "tail", "realign"])
@pytest.mark.parametrize(
    ("layers", "message"),
    [
        (3, "layers is .* not 3"),
        (None, "layers is .* not None"),
        ("lasts", "layers is .* not 'lasts'"),
        ([3], r"operator 3 has nothing to train, choose from \[0, 1, 2, 4\]"),
        ([0, 99], "operator 99 has nothing to train"),
        ([0, "1"], "operator 1 has nothing to train"),
        ([], "layers is empty"),
    ],
)
def test_wrong_layers_are_refused_by_every_recipe(recipe, layers, message, model):
    with pytest.raises(ValueError, match=message):
        microzo.Trainer(model, recipe, layers).memory()


def test_layers_are_taken_in_order_and_once(model):
    trainer = microzo.Trainer(model, "spsa", (4, 1, 4))
    trainer.memory()
    assert selection.choose(model.plan, (4, 1, 4)) == [1, 4]
    assert selection.choose(model.plan, range(1, 3)) == [1, 2]


def test_what_is_no_model_and_no_data_is_told(model):
    with pytest.raises(TypeError, match="takes what microzo.load gives, not 'm.safetensors'"):
        microzo.Trainer("m.safetensors")
    for use in (model.evaluate, microzo.Trainer(model).run):
        with pytest.raises(TypeError, match="data is a microzo.Dataset.* not 'x.npy'"):
            use("x.npy")
    with pytest.raises(ValueError, match="operator 5 does not exist"):
        model.output(5)


def test_plan_names_the_parts(model):
    plan = microzo.Trainer(model).memory()
    assert plan.total == sum(plan.parts.values())
    assert "gradients" in str(plan) and "total" in str(plan)


def test_too_little_memory_is_refused_before_the_start(model, data):
    trainer = microzo.Trainer(model, "spsa", layers="all", ram=3000)
    with pytest.raises(MemoryError, match="needs .* free .* largest block"):
        trainer.run(data)
    assert not len(model.state)


def test_default_trains_what_fits(model, data):
    smaller = small.short("default")
    smaller["stages"][2] = small.short("head")["stages"][0]
    needs = microzo.Trainer(model, smaller).memory(60).total
    trainer = small.train(model, data, small.short("default"), ram=needs)
    assert [spec["kind"] for spec in trainer.program["stages"]] == ["realign", "refilter", "head"]
    (note,) = trainer.program["notes"]
    wanted = r"no tail of operator \d+, which needs (\d+) bytes \(room: (\d+)\), head instead"
    found = re.fullmatch(wanted, note)
    assert int(found[1]) > int(found[2]) == needs


def test_trained_model_is_not_trained_again(model, data):
    small.train(model, data, small.short("realign"))
    with pytest.raises(ValueError, match="reset"):
        microzo.Trainer(model)
    model.reset()
    small.train(model, data, small.short("realign"))
    assert model.trained


def test_scales_leave_the_weights_in_the_file(model, data):
    small.train(model, data, "scales")
    assert all(model.plan[L.op_base(i) + L.MASTER_OFF] < 0 for i in range(model.ops))
    assert model.plan[L.op_base(0) + L.MS_OFF] >= 0


def test_unknown_recipe_lists_the_names(model):
    with pytest.raises(ValueError, match="default.*forward_only.*realign"):
        microzo.Trainer(model, "magic")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("probs", 3, "no setting 'probs'"),
        ("guard", "heald", '"all" or "held" or "free" or "", not'),
        ("probes", 65, "probes is 1..64, not 65"),
        ("steps", 0, "steps is 1.."),
        ("samples", 2.5, "samples is 1..256, not 2.5"),
        ("samples", 200, "at most 256 samples a step"),
        ("shift", 29, "shift is -14..28"),
        ("first_shift", -6, "at most 32767"),
        ("train", (), 'train is a tuple of "weights" and "biases" and "scales", not'),
        ("train", "weights", "train is a tuple of"),
        ("train", ("weights", "filters"), "train is a tuple of"),
        ("masks", "random", 'no setting .masks.: did you mean "mask"\\?'),
        (
            "mystery",
            1,
            "no setting .mystery.: there are .*clip.*factors.*guided.*mask.*one_in.*pick",
        ),
    ],
)
def test_altered_recipe_is_checked(key, value, message, model):
    made = microzo.recipe("spsa")
    made["stages"][0][key] = value
    with pytest.raises(ValueError, match=message):
        microzo.Trainer(model, made)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"samples": 0}, "samples of a recipe is 1..4096, not 0"),
        ({"samples": "x"}, "samples of a recipe is 1..4096, not 'x'"),
        ({"holdout": "x"}, "holdout of a recipe is 0..90, not 'x'"),
        ({"holdout": 91}, "holdout of a recipe is 0..90, not 91"),
        ({"stages": []}, "stages of a recipe is a list"),
        ({"stages": "spsa"}, "stages of a recipe is a list"),
        ({"stages": ["spsa"]}, "a stage is a dict .* not 'spsa'"),
        ({"stages": [{"kind": ["spsa"]}]}, "unknown stage .* has no method of that name"),
    ],
)
def test_altered_recipe_is_checked_outside_its_stages(changes, message, model):
    with pytest.raises(ValueError, match=message):
        microzo.Trainer(model, dict(microzo.recipe("spsa"), **changes))


@pytest.mark.parametrize("value", ["x", -1, 1.5, 1 << 30, [1]])
@pytest.mark.parametrize("name", "seed board_id sync_every checkpoint_every ram cache".split())
def test_options_are_checked(name, value, model):
    with pytest.raises(ValueError, match=r"^%s is \d+\.\.\d+, not " % name):
        microzo.Trainer(model, **{name: value})


def test_counts_are_checked(model, data):
    for steps in (0, "x", 2.5):
        with pytest.raises(ValueError, match=r"^steps is 1\.\.\d+, not "):
            microzo.Trainer(model).run(data, steps=steps)
    for samples in (0, "x"):
        with pytest.raises(ValueError, match=r"^samples is 1\.\.\d+, not "):
            microzo.Trainer(model).memory(samples)
    for name in ("sync_every", "checkpoint_every"):
        with pytest.raises(ValueError, match=name + " is 1"):
            microzo.Trainer(model, **{name: 0})
