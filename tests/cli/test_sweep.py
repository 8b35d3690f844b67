"""Sweeps of `microzo simulate`: own files, seeds, failed and interrupted runs, what is written."""

import csv
import functools
import json
import pathlib
import re

import click.testing
import dying
import numpy as np
import pytest

import microzo
from microzo.journal import record
from microzo_host import cli
from microzo_host.simulation import own, processes, results, runs, sweep

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUICK = ["spsa.steps=3", "spsa.probes=2", "samples=20", "spsa.guard="]


def settings():
    return [word for change in QUICK for word in ("--set", change)]


@pytest.fixture
def invoke(model_path, data_paths, tmp_path):
    """invoke(more arguments): the result of a small sweep over the small model and its data."""

    def run(*more, recipes=("spsa",)):
        arguments = ["simulate", *recipes, *settings(), "--model", model_path]
        arguments += ["--train", *data_paths, "--test", *data_paths, "-j", "1"]
        arguments += ["--cache", str(tmp_path / "cache"), *more]
        return click.testing.CliRunner().invoke(cli.main, arguments)

    return run


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("3", [0, 1, 2]),
        ("0,5,7", [0, 5, 7]),
        ("4-6", [4, 5, 6]),
        ("7,", [7]),
        ("9,1-2", [9, 1, 2]),
    ],
)
def test_seeds(text, listed):
    assert sweep.seeds(text) == listed


@pytest.mark.parametrize("text", ["0", "x", "1,y", "3-1", "-2", ""])
def test_seeds_that_are_none(text, invoke):
    with pytest.raises(ValueError, match="how many"):
        sweep.seeds(text)
    if text:
        assert "how many" in invoke(f"--seeds={text}").output


def test_an_own_model_trains_to_the_bits_of_a_trainer(
    invoke, tmp_path, model, model_path, data, data_paths
):
    out = tmp_path / "out"
    result = invoke("--seeds", "3,8", "--out", str(out))
    assert result.exit_code == 0, result.output
    first, second = json.loads((out / "runs.json").read_text())
    assert (first["seed"], second["seed"]) == (3, 8)

    recipe = first["recipe_settings"]
    before = 100 * float(model.evaluate(data))
    trainer = microzo.Trainer(model, recipe, seed=3, journal=str(tmp_path / "run"))
    steps = list(trainer.run(data))
    (end,) = _records(tmp_path / "run", record.END)
    assert first["state_crc"] == record.get32(end, record.HEADER)
    x, y = (np.load(path) for path in data_paths)
    wrong = [i for i in range(len(y)) if model.predict(x[i].tobytes()) != y[i]]
    assert first["wrong"] == wrong
    assert first["accuracy"] == pytest.approx(100 - 100 * len(wrong) / len(y), abs=1e-3)
    assert first["before"] == pytest.approx(before, abs=1e-3)
    assert first["curve"]["loss"] == pytest.approx([step.loss for step in steps], abs=1e-5)
    assert first["curve"]["step"] == [1, 2, 3] and first["steps"] == 3

    with open(out / "runs.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == list(results.COLUMNS)
    assert [float(row["accuracy"]) for row in rows] == [first["accuracy"], second["accuracy"]]
    with open(out / "steps.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == list(results.STEP_COLUMNS) and len(rows) == 6
    assert [float(row["loss"]) for row in rows[:3]] == first["curve"]["loss"]


def _records(path, kind):
    import small

    return small.records(str(path), kind)


def test_plots_are_pictures(invoke, tmp_path):
    pytest.importorskip("matplotlib", reason="the extra `report` is not installed")
    result = invoke("-c", "noise:5", "-c", "clean", "--out", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    for name in ("accuracy", "curves"):
        assert (tmp_path / "out" / f"{name}.png").read_bytes()[:4] == b"\x89PNG"


def test_recipes_stand_in_one_table(invoke):
    result = invoke("--json", "-", recipes=("spsa", "zoqo"))
    rows = json.loads(result.stdout)
    table = invoke(recipes=("spsa", "zoqo")).output
    difference = rows[1]["accuracy"] - rows[0]["accuracy"]
    assert f"{difference:+.2f}" in re.search(r"zoqo.*", table)[0]
    assert len(re.findall(r"^clean +(spsa|zoqo) ", table, re.M)) == 2


def test_one_failed_run_does_not_end_the_sweep(invoke, tmp_path, monkeypatch):
    perform = runs.perform

    def failing(run):
        if run.seed == 1:
            raise MemoryError("this run wants too much")
        return perform(run)

    monkeypatch.setattr(runs, "perform", failing)
    result = invoke("--seeds", "3", "--out", str(tmp_path / "out"))
    assert result.exit_code == 1
    assert "1 of 3 runs failed: 1 x this run wants too much" in result.output
    rows = json.loads((tmp_path / "out" / "runs.json").read_text())
    assert [row["error"] for row in rows] == ["", "this run wants too much", ""]
    assert rows[1]["accuracy"] is None and rows[2]["accuracy"] is not None
    monkeypatch.setattr(runs, "perform", perform)
    assert invoke("--seeds", "3").exit_code == 0  # it was not kept as a failure


def test_an_interrupted_sweep_goes_on(invoke, monkeypatch):
    perform, performed = runs.perform, []

    def interrupted(run):
        if len(performed) == 2:
            raise KeyboardInterrupt
        performed.append(run.seed)
        return perform(run)

    monkeypatch.setattr(runs, "perform", interrupted)
    assert invoke("--seeds", "4").exit_code == 1
    assert performed == [0, 1]

    def counted(run):
        performed.append(run.seed)
        return perform(run)

    monkeypatch.setattr(runs, "perform", counted)
    result = invoke("--seeds", "4", "--json", "-")
    assert performed == [0, 1, 2, 3]
    assert [row["seed"] for row in json.loads(result.stdout)] == [0, 1, 2, 3]


def test_changed_data_are_new_runs(model_path, data_paths, tmp_path):
    x, y = (np.load(path) for path in data_paths)
    first = own.of(model_path, (x, y), data_paths, tmp_path)
    assert own.of(model_path, data_paths, data_paths).digest == first.digest
    second = own.of(model_path, (255 - x, y), data_paths, tmp_path)
    assert second.digest != first.digest
    np.save(first.train[0], 255 - x)
    with pytest.raises(ValueError, match="changed while runs go on"):
        first.adaptation()


def test_what_does_not_belong_together_is_told(model_path, data_paths, tmp_path):
    runner = click.testing.CliRunner()
    result = runner.invoke(cli.main, ["simulate", "spsa", "--model", model_path])
    assert result.exit_code == 2 and "belong together" in result.output
    with pytest.raises(ValueError, match="train is two things"):
        own.of(model_path, "x.npy", data_paths)
    one = own.of(model_path, data_paths, data_paths)
    other = own.Own(one.model, one.train, one.test, (1, 1, 16), one.digest)
    with pytest.raises(ValueError, match="corruptions are for images"):
        sweep.of(["spsa"], corruptions=["fog"], own=other)


@pytest.mark.slow
def test_a_process_that_dies_takes_no_other_along():
    made = processes.side_by_side(
        dying.dies_at_2, range(4), 2, functools.partial(str.format, "died {}")
    )
    assert sorted(map(str, made)) == ["0", "10", "30", "died 2"]
    with pytest.raises(RuntimeError, match="its process died"):
        list(processes.side_by_side(dying.dies_at_2, [2, 3], 2))


def test_the_page_names_every_column():
    page = (ROOT / "docs" / "reference" / "simulate.md").read_text()
    sections = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", page, re.M | re.S))

    def named(section):
        rows = re.findall(r"^\| (`.*?) \|", sections[section], re.M)
        return [name for row in rows for name in re.findall(r"`(\w+)`", row)]

    assert named("Rows of runs") == list(results.COLUMNS)
    assert named("Rows of steps") == list(results.STEP_COLUMNS)
    assert named("More fields in JSON") == ["recipe_settings", "wrong", "curve"]
