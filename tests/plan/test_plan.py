"""`microzo plan`: what it refuses and why, its advice, its times, its JSON."""

import itertools
import json
import pathlib
import re

import numpy as np
import pytest
from click.testing import CliRunner

import microzo
from microzo.net import trainable as selection
from microzo_host import cli
from microzo_host.data import demonet
from microzo_host.model import file as modelfile
from microzo_host.model import quantize
from microzo_host.model.network import Layer, Network
from microzo_host.plan import advice
from microzo_host.plan import predict as planning
from microzo_host.plan import ram as ramplan
from microzo_host.plan import time as steptime

ROOT = pathlib.Path(__file__).parents[2]
SMALL = 170 << 10  # bytes of a board on which the demo network fits only from ROMFS


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The demo network, quantized on noise: only its shapes matter here."""
    path = tmp_path_factory.mktemp("planning") / "demo.safetensors"
    noise = np.random.default_rng(1).integers(0, 256, (8, 28, 28, 1)).astype(np.uint8)
    modelfile.write(path, quantize.quantize(demonet.pretrained("mnist"), noise))
    return path


@pytest.fixture(scope="module")
def residual(tmp_path_factory):
    """A network whose last convolution reaches the head through an addition."""
    return added(tmp_path_factory, 1)


@pytest.fixture(scope="module")
def deeper(tmp_path_factory):
    """The same through two additions: no closed form."""
    return added(tmp_path_factory, 2)


def added(tmp_path_factory, sums):
    rng = np.random.default_rng(2)

    def w(*shape):
        return rng.normal(0, 0.2, shape).astype(np.float32)

    layers = [
        Layer("conv", "stem", (0,), w(8, 3, 3, 1), w(8), pads=(1, 1, 1, 1), activation="relu"),
        Layer("conv", "branch", (1,), w(8, 3, 3, 8), w(8), pads=(1, 1, 1, 1)),
        *(Layer("add", f"sum{i}", (1, 2 + i)) for i in range(sums)),
        Layer("globalpool", "pool", (2 + sums,)),
        Layer("dense", "head", (3 + sums,), w(4, 1, 1, 8), w(4)),
    ]
    path = tmp_path_factory.mktemp("planning") / "residual.safetensors"
    images = rng.integers(0, 256, (20, 8, 8, 1)).astype(np.uint8)
    modelfile.write(path, quantize.quantize(Network((8, 8, 1), layers, "residual"), images))
    return path


def run(*args):
    """(status, standard output, standard error) of the command."""
    result = CliRunner().invoke(cli.main, ["plan", *map(str, args)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def test_json_has_the_fields_of_the_docs(demo):
    status, text, _ = run(demo, "--json", "-")
    found = json.loads(text)
    assert status == 0
    page = (ROOT / "docs" / "reference" / "plan.md").read_text().partition("## Parts")[0]
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", page, re.M)
    assert sorted(found) == sorted(re.findall(r"\w+", " ".join(rows)))
    assert found["fits"] and not found["refused"]
    assert found["peak"] == sum(found["parts"].values()) < found["ram"]
    assert found["macs_forward"] == sum(layer["macs"] for layer in found["layers"])


def test_what_live_samples_take_counts(demo):
    """The parts that Trainer.memory(live=True) has; the window is as large as memory allows."""
    windows = []
    for ram in ("256K", "1M"):
        command = ["plan", str(demo), "--recipe", "head", "--ram", ram, "--json", "-"]
        plain, live = (
            json.loads(CliRunner().invoke(cli.main, command + more).stdout)
            for more in ([], ["--live"])
        )
        assert live["peak"] > plain["peak"]
        assert live["stages"][0]["steps"] == 32
        parts = live["parts"]
        assert parts["undo of a step"] == parts["trained values"] + parts["gradients"]
        windows.append(parts["collected samples"] // 786 - 8)
    assert windows == [16, 32]


def test_weights_in_romfs_take_no_ram(demo):
    in_ram, mapped = (ramplan.predict(demo, "head", romfs=romfs) for romfs in (False, True))
    assert "weights" not in mapped.parts
    assert in_ram.peak - mapped.peak == in_ram.parts["weights"]
    assert mapped.flash["model in ROMFS"] == in_ram.flash["model"] == demo.stat().st_size


def test_what_fits_only_from_romfs_is_told_with_both_figures(demo):
    status, text, error = run(demo, "--recipe", "head", "--ram", SMALL)
    in_ram, mapped = (
        ramplan.predict(demo, "head", ram=SMALL, romfs=romfs) for romfs in (False, True)
    )
    assert not in_ram.fits and mapped.fits
    assert status == 1 and error.count("\n") == 1
    assert f"{in_ram.needed:,} bytes with the weights in RAM" in error
    assert f"{mapped.needed:,} bytes are enough" in error and "--romfs" in error
    assert "fits with weights in RAM: nothing" in text
    assert run(demo, "--recipe", "head", "--ram", SMALL, "--romfs")[0] == 0


def test_tail_is_refused_where_it_has_no_closed_form(deeper):
    status, text, error = run(deeper, "--recipe", "tail", "--json", "-")
    found = json.loads(text)
    assert status == 1 and not found["fits"] and found["refused"] in error
    assert re.search(r"operator 1 \(CONV\) would need [\d,]+ bytes", error)
    assert "262,144" in error
    assert not any(a["fits"] for a in found["alternatives"] if a["recipe"] == "tail")
    assert any(a["fits"] for a in found["alternatives"] if a["recipe"] == "head")
    with pytest.raises(ValueError, match="closed form"):  # the board says so too
        microzo.Trainer(microzo.load(str(deeper)), "tail").memory()


def test_tail_goes_through_an_addition(residual):
    assert run(residual, "--recipe", "tail")[0] == 0
    plan = microzo.load(str(residual)).plan
    assert selection.tails(plan) == [1] and selection.kept(plan, 1) == (1, 2)


@pytest.mark.parametrize("stride", [(8, 8), (1, 1)])
def test_tail_goes_through_a_pool_of_any_stride_with_one_output(stride, tmp_path):
    rng = np.random.default_rng(3)
    layers = [
        Layer("conv", "conv", (0,), rng.normal(0, 0.2, (8, 1, 1, 1)), np.ones(8)),
        Layer("avgpool", "pool", (1,), kernel=(8, 8), stride=stride),
        Layer("dense", "head", (2,), rng.normal(0, 0.2, (4, 1, 1, 8)), np.zeros(4)),
    ]
    images = rng.integers(0, 256, (32, 8, 8, 1)).astype(np.uint8)
    made = quantize.quantize(Network((8, 8, 1), layers, "pooled"), images)
    modelfile.write(tmp_path / "pooled.safetensors", made)
    model = microzo.load(str(tmp_path / "pooled.safetensors"))
    before = bytes(model.state)
    trainer = microzo.Trainer(model, "tail")
    for _ in trainer.run(microzo.ArrayData(images, np.arange(32).astype(np.uint8) % 4)):
        pass
    assert trainer.program["stages"][0]["ops"] == [0] and bytes(model.state) != before


def test_default_trains_the_head_where_tail_has_no_closed_form(deeper):
    found = ramplan.predict(deeper, "default")
    assert [stage["kind"] for stage in found.stages] == ["realign", "refilter", "head"]
    assert any("head instead" in note for note in found.notes)


@pytest.fixture(scope="module")
def every_set(demo):
    """What spsa needs, for all sets of layers of the demo network."""
    model, made = microzo.load(str(demo)), microzo.recipe("spsa")
    ops = selection.weighted(model.plan)
    sets = [c for n in range(1, len(ops) + 1) for c in itertools.combinations(ops, n)]
    return [ramplan.needs(model, advice._program(model, made, list(c), 256)) for c in sets]


@pytest.mark.parametrize("ram", [208 << 10, 224 << 10, 232 << 10, 256 << 10])
def test_the_best_layers_are_the_best_of_all_sets(demo, every_set, ram):
    room = ramplan.room(microzo.load(str(demo)), microzo.recipe("spsa"), ram, False)
    sizes = [n["trained values"] for n in every_set if sum(n.values()) <= room]
    most = max(sizes, default=0)
    best = advice.best_layers(demo, 256, ram, False)
    if most == 0:
        assert best == []
        return
    found = ramplan.predict(demo, "spsa", best, ram=ram)
    assert found.fits and found.parts["trained values"] == most


def test_times_follow_clock_and_core(demo):
    slow, fast = (
        planning.plan(demo, "spsa", "auto", 256, ramplan.Target(256 << 10, "m4", hz), False)
        for hz in (25_000_000, 100_000_000)
    )
    assert slow["seconds_forward"] == 4 * fast["seconds_forward"]
    assert slow["seconds_step"]["spsa"] == slow["instructions_step"]["spsa"] / 25_000_000
    small = ramplan.Target(256 << 10, "m0plus", 25_000_000)
    smaller = planning.plan(demo, "spsa", "auto", 256, small, False)
    assert smaller["instructions_forward"] > 2 * slow["instructions_forward"]


def test_every_stage_has_a_time(demo):
    table = json.loads(steptime.TABLE.read_text())
    costs = steptime.Costs(microzo.load(str(demo)).plan, "m4", table)
    for recipe in microzo.recipes.names.RECIPES:
        for stage in ramplan.predict(demo, recipe, ram=1 << 20).stages:
            assert costs.step(stage, 256) > 0


def test_an_unknown_core_is_named():
    with pytest.raises(ValueError, match="no counts for core z80, there are m4"):
        steptime.Costs([], "z80")


def least(text):
    """(recipe, bytes, whether mapped) of the least that an error names."""
    found = re.search(r"the least is (\S+) with ([\d,]+) bytes and the weights (.*)\n", text)
    return found[1], int(found[2].replace(",", "")), found[3] == "mapped from ROMFS"


@pytest.mark.parametrize("recipe", ["spsa", "default", "tail"])
@pytest.mark.parametrize("romfs", [False, True])
def test_where_nothing_fits_the_least_is_told_and_nothing_else_advised(demo, recipe, romfs):
    flag = ["--romfs"] if romfs else []
    status, _, error = run(demo, "--recipe", recipe, "--ram", "1K", *flag)
    assert status == 1 and "fewer" not in error and "--layers" not in error
    name, size, mapped = least(error)
    assert not ramplan.predict(demo, name, ram=size - 1000, romfs=mapped).fits
    # what a recipe needs grows a little with the board: the collector's tables
    assert ramplan.predict(demo, name, ram=round(1.03 * size), romfs=mapped).fits


def test_fewer_layers_are_advised_only_where_they_fit(demo):
    many = ["--recipe", "spsa", "--layers", "all", "--ram", "185K", "--romfs"]
    status, _, error = run(demo, *many)
    last = re.search(r"--layers (last\d+) fits; recipes that fit: (.*)\n", error)
    assert status == 1 and last
    assert run(demo, *many[:3], last[1], *many[4:])[0] == 0
    more = f"last{int(last[1][4:]) + 1}"
    assert run(demo, *many[:3], more, *many[4:])[0] == 1
    for recipe in last[2].split(", "):
        assert run(demo, "--recipe", recipe, "--ram", "185K", "--romfs")[0] == 0
    # the fewest are trained already
    assert "--layers" not in run(demo, "--recipe", "spsa", "--ram", "150K", "--romfs")[2]
    assert "--layers" not in run(demo, "--recipe", "tail", "--ram", "200K", "--romfs")[2]
    # from RAM or from ROMFS
    error = run(demo, *many[:4], "--ram", "200K")[2]
    last = re.search(r"or train fewer layers, --layers (last\d+)\n", error)[1]
    assert run(demo, *many[:3], last, "--ram", "200K")[0] == 0


def test_a_recipe_may_be_a_file(demo, tmp_path):
    path = tmp_path / "mine.json"
    made = microzo.recipe("spsa")
    made.update(name="mine", samples=100)
    made["stages"][0].update(steps=12, mask="random")
    path.write_text(json.dumps(made))
    status, text, _ = run(demo, "--recipe", path, "--json", "-")
    found = json.loads(text)
    assert status == 0 and found["recipe"] == "mine" and found["samples"] == 100
    assert found["stages"][0]["steps"] == 12 and found["stages"][0]["mask"] == "random"
    plain = json.loads(run(demo, "--recipe", "spsa", "--json", "-")[1])
    assert found["parts"]["package"] > plain["parts"]["package"]  # mask.py and others
    status, _, error = run(demo, "--recipe", path, "--ram", "64K")
    assert status == 1 and "recipe mine needs" in error


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "No such file"),
        ("{", "is no JSON"),
        ("[]", "a recipe is a dict"),
        ('{"name": "x"}', "the recipe has no 'samples'"),
    ],
)
def test_recipe_files_are_checked(demo, tmp_path, text, words):
    path = tmp_path / "mine.json"
    if text is not None:
        path.write_text(text)
    status, _, error = run(demo, "--recipe", path)
    assert status == 1 and error.count("\n") == 1 and words in error and "mine.json" in error


def test_pick_is_noted(demo, tmp_path):
    made = microzo.recipe("spsa")
    made["stages"][0]["pick"] = "gradient"
    (tmp_path / "pick.json").write_text(json.dumps(made))
    status, text, _ = run(demo, "--recipe", tmp_path / "pick.json")
    assert status == 0 and "pick chooses among the operators on the board" in text


def test_layers_are_checked_for_every_recipe(demo):
    for recipe in ("head", "default", "spsa"):
        status, _, error = run(demo, "--recipe", recipe, "--layers", "0,99")
        assert status == 1 and "operator 99 has nothing to train" in error


def test_numbers_are_checked(demo):
    assert "lots" in run(demo, "--clock", "lots")[2]
    status, text, _ = run(demo, "--clock", "64M")
    assert status == 0 and "m4 at 64 MHz" in text
