"""`microzo report`: one self-contained page and its pictures, also as a browser shows it."""

import json
import pathlib
import re
import shutil
import sys

import browser
import numpy as np
import pytest
import small
from click.testing import CliRunner

import microzo
from microzo_host import cli
from microzo_host.plan import ram
from microzo_host.report import page, pictures, run, runfiles

pytestmark = pytest.mark.slow
pytest.importorskip("matplotlib", reason="the extra `report` is not installed")
pytest.importorskip("jinja2", reason="the extra `report` is not installed")


@pytest.fixture(scope="module")
def folder(model_path, tmp_path_factory):
    """The files of a run, as train.py leaves them."""
    made = tmp_path_factory.mktemp("run <b>")
    shutil.copy(model_path, made / "model.safetensors")
    for part, seed in (("train", 7), ("test", 8)):
        x, y = small.arrays(model_path, seed=seed)
        np.save(made / f"{part}_x.npy", x)
        np.save(made / f"{part}_y.npy", y)
    model = microzo.load(str(made / "model.safetensors"))
    data = microzo.Dataset(str(made / "train_x.npy"), str(made / "train_y.npy"))
    journal = str(made / "train.journal")
    small.train(model, data, small.short("default"), journal=journal, seed=2)
    model.save(str(made / "adapted.safetensors"))
    return made


@pytest.fixture(scope="module")
def made(folder):
    """(folder of the report, its JSON)."""
    out = folder / "report"
    arguments = ["report", str(folder), "-o", str(out), "--json", "-"]
    result = CliRunner().invoke(cli.main, arguments)
    assert result.exit_code == 0, result.output
    return out, json.loads(result.stdout)


def test_figures_are_those_of_the_model(folder, made):
    _, facts = made
    x, y = np.load(folder / "test_x.npy"), np.load(folder / "test_y.npy")
    for name, key in (("model", "before"), ("adapted", "after")):
        model = microzo.load(str(folder / f"{name}.safetensors"))
        classes = np.array([model.predict(sample.tobytes()) for sample in x])
        assert facts[key] == pytest.approx(100 * np.mean(classes == y))
        if key == "before":
            before = classes
    assert facts["mended"] == int(np.sum((before != y) & (classes == y)))
    assert facts["spoilt"] == int(np.sum((before == y) & (classes != y)))
    assert facts["replay"].startswith("identical: the journal leads to the adapted model file")
    assert facts["recipe"] == "default" and facts["seed"] == 2
    assert facts["memory"]["peak"] == sum(facts["memory"]["parts"].values())
    assert facts["curves"]["series"][1]["name"] == "test samples"


def test_a_model_that_was_altered_is_told(folder, tmp_path):
    other = tmp_path / "other.safetensors"
    shutil.copy(folder / "model.safetensors", other)
    arguments = ["report", str(folder), "--adapted", str(other), "-o", str(tmp_path), "--json"]
    result = CliRunner().invoke(cli.main, [*arguments, "-"])
    assert json.loads(result.stdout)["replay"].startswith(f"different: {other}")


def test_the_page_needs_nothing_else(made):
    out, facts = made
    text = (out / "report.html").read_text()
    assert re.findall(r"(?:src|href)=\"(?!data:)[^\"]*", text) == []
    assert re.sub(r"http://www.w3.org/2000/svg", "", text).count("://") == 0
    assert sorted(p.name for p in out.iterdir()) == sorted(["report.html", *facts["pictures"]])
    for name in facts["pictures"]:
        assert (out / name).read_bytes()[:4] == b"\x89PNG"
        assert (out / name).stat().st_size < 200_000


def test_names_of_files_are_text(made):
    text = (made[0] / "report.html").read_text()
    assert "run <b>" not in text and "run &lt;b&gt;" in text


def test_a_browser_draws_it(made):
    """Without an error; two charts with two curves, every picture with a size."""
    dom = browser.dom(made[0] / "report.html")
    assert len(re.findall(r"<polyline points=\"\d", dom)) == 4
    stages = re.findall(r'<text [^>]*class="stage"[^>]*>(\w+)<', dom)
    assert len(stages) == 6 and set(stages) == {"realign", "refilter", "tail"}
    assert "NaN" not in dom


def test_the_browser_tells_an_error(tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text("<script>nothing.at.all();</script>")
    with pytest.raises(AssertionError, match="nothing is not defined"):
        browser.dom(bad)


def test_counts():
    labels, classes = np.array([0, 0, 1, 2]), np.array([0, 1, 1, 0])
    assert pictures.counts(labels, classes, 3).tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 0]]


@pytest.mark.parametrize("shape", [(8, 8, 1), (8, 8, 3), (1, 32, 3), (20, 1, 1), (8, 8, 2)])
def test_samples_of_every_kind_are_drawn(shape):
    x = np.arange(2 * np.prod(shape), dtype=np.uint32).astype(np.uint8).reshape(2, *shape)
    assert pictures.samples(x, ["a", "b"])[:4] == b"\x89PNG"


def test_files_of_a_run(folder, tmp_path):
    files = runfiles.find(folder)
    assert files.journal == folder / "train.journal" and files.test[0] == folder / "test_x.npy"
    below = folder / "below"
    below.mkdir()
    try:
        for name in ("train_x.npy", "train_y.npy", "train.journal"):
            shutil.copy(folder / name, below)
        assert runfiles.find(below).model.resolve() == folder / "model.safetensors"
        assert runfiles.find(below).test is None
    finally:
        shutil.rmtree(below)
    for name in ("a.journal", "b.journal"):
        (tmp_path / name).touch()
    with pytest.raises(FileNotFoundError, match=r"has a.journal, b.journal: choose one"):
        runfiles.find(tmp_path)
    with pytest.raises(FileNotFoundError, match="no run is named"):
        runfiles.find(None)
    with pytest.raises(FileNotFoundError, match="has no model.safetensors: name the file by"):
        runfiles.find(tmp_path, journal=tmp_path / "a.journal")


def test_without_test_data_the_page_says_so(folder, model_path, tmp_path):
    files = runfiles.Files(
        folder / "train.journal", folder / "model.safetensors",
        (folder / "train_x.npy", folder / "train_y.npy"),
    )  # fmt: skip
    made = run.report(files, ram.Target(256 << 10))
    assert made.facts["measured_on"] == "training" and len(made.live["series"]) == 1
    assert "say little of new ones" in page.report_page(made, "a run")


def test_without_the_extra_the_cure_is_named(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = CliRunner().invoke(cli.main, ["report", str(folder), "-o", str(tmp_path / "r")])
    assert result.exit_code == 1
    assert result.output.endswith("pages need the package Jinja2: run `make report-packages`\n")
    assert not pathlib.Path(tmp_path / "r").exists()
