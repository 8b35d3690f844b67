"""`microzo simulate`: runs are kept, go on, and are what a trainer makes."""

import json

import click.testing
import pytest

import microzo
from microzo_host import cli
from microzo_host.plan import work as cost
from microzo_host.report import tables
from microzo_host.simulation import jobs, networks, recipes, runs


def quick():
    return recipes.settings(
        microzo.recipe("spsa"), ["spsa.steps=2", "spsa.probes=2", "samples=20", "spsa.guard="]
    )


def test_settings_change_a_copy():
    recipe = microzo.recipe("forward_only")
    made = recipes.settings(recipe, ["spsa.shift=4", "samples=64", "spsa.rule=sign"])
    assert made["samples"] == 64 and made["stages"][-1]["rule"] == "sign"
    assert recipe["samples"] == 256 and recipe["stages"][-1]["shift"] == 1
    with pytest.raises(ValueError, match=r"no setting tail.shift: it has .*realign.\(alpha guard"):
        recipes.settings(recipe, ["tail.shift=4"])
    with pytest.raises(ValueError, match=r"no setting spsa.masks: .*spsa.\(.* mask .* sharp "):
        recipes.settings(recipe, ["spsa.masks=random"])
    assert recipes.settings(recipe, ["spsa.mask=random"])["stages"][-1]["mask"] == "random"


@pytest.mark.slow
def test_a_run_is_what_the_trainer_makes_and_is_kept(tmp_path):
    run = runs.run_of(quick(), "noise", 3, 0, 50, "mnist")
    found = runs.collect([run], tmp_path, 1)[run]
    path = tmp_path / "m.safetensors"
    path.write_bytes(networks.model_bytes("mnist"))
    model = microzo.load(str(path))
    trainer = microzo.Trainer(model, quick(), seed=0)
    for _ in trainer.run(microzo.ArrayData(*jobs.adaptation(run, 20))):
        pass
    images, labels = jobs.test_of(run)
    right = jobs.predictions(model, images) == labels
    assert found["accuracy"] == round(100 * float(right.mean()), 3)
    assert found["forwards"] == cost.forwards(trainer.model.plan, trainer.program) == 2 * 2 * 2 * 8
    told = []
    assert runs.collect([run], tmp_path, 1, told.append)[run] == found and not told


@pytest.mark.slow
def test_a_cluster_gives_the_same_results(tmp_path):
    distributed = pytest.importorskip("distributed")
    wanted = [runs.run_of(quick(), "noise", 3, seed, 50, "mnist") for seed in (0, 1)]
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as workers:
        found = runs.collect(wanted, tmp_path / "a", 0, cluster=workers.scheduler_address)
    assert found == runs.collect(wanted, tmp_path / "b", 1)
    assert runs.collect(wanted, tmp_path / "a", 1) == found  # they were kept


@pytest.mark.slow
def test_a_cluster_that_is_not_there_ends_in_one_sentence(tmp_path):
    pytest.importorskip("distributed")
    options = ["--dask", "tcp://127.0.0.1:9", "--data", "mnist", "--cache", str(tmp_path)]
    result = click.testing.CliRunner().invoke(cli.main, ["simulate", "spsa", *options])
    assert result.exit_code == 1 and "127.0.0.1:9" in result.output
    assert "Traceback" not in result.output


def test_command_writes_rows(tmp_path):
    file = tmp_path / "quick.json"
    file.write_text(json.dumps(quick()))
    out = tmp_path / "out.json"
    arguments = ["simulate", str(file), "-c", "rotate:2", "--data", "mnist", "-j", "1"]
    arguments += ["--test-images", "50", "--cache", str(tmp_path / "c"), "--json", str(out)]
    result = click.testing.CliRunner().invoke(cli.main, arguments)
    assert result.exit_code == 0, result.output
    assert "rotate 2" in result.output
    (row,) = json.loads(out.read_text())
    assert row["severity"] == 2 and row["ram_bytes"] > 0
    run = runs.run_of(quick(), "rotate", 2, 0, 50, "mnist")
    path = tmp_path / "m.safetensors"
    path.write_bytes(networks.model_bytes("mnist"))
    images, labels = jobs.test_of(run)
    right = jobs.predictions(microzo.load(str(path)), images) == labels
    assert row["before"] == 100 * float(right.mean())
    again = click.testing.CliRunner().invoke(cli.main, [*arguments[:-1], "-"])
    assert json.loads(again.stdout) == [row]


def test_the_table_names_its_columns():
    def row(corruption, recipe, accuracy, before, seed=0):
        return {
            "corruption": corruption, "severity": 3, "recipe": recipe, "accuracy": accuracy,
            "before": before, "forwards": 7, "ram_bytes": 9, "seed": seed, "error": "",
        }  # fmt: skip

    rows = [
        row("fog", "a", 60.0, 50.0),
        row("fog", "a", 70.0, 50.0, 1),
        row("fog", "b", 40.0, 50.0),
    ]
    made = tables.simulated(rows)
    cells = {column.header: list(column.cells) for column in made.columns}
    assert cells["before %"] == ["50.00", "50.00"]
    assert cells["after %"] == ["65.00", "40.00"]
    assert cells["worst"] == ["60.00", "40.00"] and cells["best"] == ["70.00", "40.00"]
    assert cells["to a"] == ["", "-20.00"]  # of seed 0, which both have
    assert cells["forwards"] == ["7", "7"] and cells["RAM bytes"] == ["9", "9"]


def test_unknown_corruption_is_named():
    result = click.testing.CliRunner().invoke(cli.main, ["simulate", "spsa", "-c", "storm"])
    assert result.exit_code == 1 and "storm" in result.output
