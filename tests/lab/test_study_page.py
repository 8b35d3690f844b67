"""The study's page says what its rows say, and its parts can run."""

import re
import xml.etree.ElementTree

import numpy as np
import pytest

import microzo
from microzo_host.data import datasets
from microzo_host.model import file as modelfile
from microzo_host.model import network
from microzo_host.reference import batch
from microzo_host.simulation import networks, recipes

for package in ("matplotlib", "pandas", "tabulate"):
    pytest.importorskip(package, reason="the extra `pages` is not installed")
pytest.importorskip("microzo_lab", reason="the laboratory is not in this copy")
from microzo_lab import accuracy, floatnet, page, parts, plot, quick  # noqa: E402


def row(recipe, corruption, seed, accuracy, bp, forwards=100):
    return {
        "dataset": "mnist", "network": "demo", "corruption": corruption, "n": 8, "seed": seed,
        "recipe": recipe, "forwards": forwards, "macs": 10**9, "ram_bytes": 5000,
        "zero_shot": 50.0, "accuracy": accuracy, "bp": bp, "gain_low": accuracy - 52.0,
        "test_images": 100,
    }  # fmt: skip


ROWS = [
    row("spsa", "fog", 0, 70.0, 80.0),
    row("spsa", "fog", 1, 72.0, 80.0),
    row("spsa", "rotate_fixed", 0, 60.0, 75.0),
    row("spsa", "rotate_fixed", 1, 60.0, 75.0),
]


def text(rows):
    """The page with single spaces, so that the width of its columns does not matter."""
    return re.sub(" +", " ", page.text(rows))


def test_means_spread_share_and_distance():
    made = text(ROWS)
    assert (
        "| spsa | 8 | 4 | 100 | 1.00 | 5000 | 71.0 (1.4) | 60.0 (0.0) | 65.5 (0.7) "
        "| 15.5 | 56 % | 12.0 | +8.0 |"
    ) in made
    assert "| zero-shot | | 4 | | | | 50.0 (0.0) | 50.0 (0.0) | 50.0 (0.0) |" in made
    assert "| spsa | 71.0 | 60.0 |" in made


def test_without_back_propagation():
    made = text([row("spsa", "fog", 0, 71.0, None)])
    assert "| 21.0 | - | - | +19.0 |" in made


def test_a_yardstick_has_no_cost():
    beside = row("bp-head", "fog", 0, 71.0, 80.0, None) | {"macs": None, "ram_bytes": None}
    made = text([*ROWS, beside])
    assert "| back-propagation, head | 8 | 1 | | | | 71.0 |" in made


def test_notes_by_hand_are_kept(tmp_path):
    path = tmp_path / "study.md"
    page.write(ROWS, path)
    assert path.read_text().endswith(page.NOTES + "\n")
    path.write_text(path.read_text() + "What it says.\n")
    page.write([*ROWS, row("head", "fog", 0, 73.0, 80.0)], path)
    assert path.read_text().endswith(page.NOTES + "\nWhat it says.\n")
    assert "| head | 8 | 1 |" in re.sub(" +", " ", path.read_text())
    svg = (tmp_path / "study-mnist-forwards.svg").read_text()
    texts = [e.text for e in xml.etree.ElementTree.fromstring(svg).iter() if e.text]
    assert "spsa" in texts and "back-prop., full" in texts
    assert "head" not in texts  # a mean over other runs than the others'


def test_points_lie_where_their_values_are(tmp_path):
    path = tmp_path / "plot.svg"
    plot.scatter(path, "t", "x", [("a", 1000, 50), ("b", 100000, 60)], [("level", 55)])
    parts = {e.get("id"): e for e in xml.etree.ElementTree.parse(path).iter() if e.get("id")}
    points = [(float(e.get("x")), float(e.get("y"))) for e in parts["points"].iter() if e.get("x")]
    left, right = sorted(points)
    assert left[1] > right[1] and left[0] < right[0]
    line = next(e.get("d") for e in parts["level level"].iter() if e.get("d"))
    height = float(line.split()[2])
    assert height == pytest.approx((left[1] + right[1]) / 2, abs=0.2)


def test_the_same_points_give_the_same_file(tmp_path):
    arguments = "t", "x", [("a", 1000, 50), ("b", 1100, 50)], [("level", 55)]
    for name in ("a.svg", "b.svg"):
        plot.scatter(tmp_path / name, *arguments)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize("part", parts.QUICK + parts.FULL, ids=lambda p: f"{p.data}-{p.n}")
def test_parts_name_what_there_is(part):
    assert set(part.shifts) <= dict(networks.reporting(part.data)).keys()
    assert set(part.yardsticks) <= accuracy.YARDSTICKS.keys()
    for name, changes, *_ in part.recipes:
        microzo.recipes.names.check(recipes.settings(recipes.recipe_of(name), changes))


def test_rows_of_a_small_part_and_of_what_is_kept(tmp_path):
    short = (("head", ("samples=20", "head.epochs=1")), ("realign", ("samples=20",)))
    part = parts.Part("mnist", short, 20, 1, 60, ("fog",))
    assert quick.rows_of(part, tmp_path, 1, with_torch=False, kept=True) == []
    rows = quick.rows_of(part, tmp_path, 1, with_torch=False, kept=False)
    assert [r["recipe"] for r in rows] == ["head", "realign"]
    first = rows[0]
    assert (first["n"], first["bp"], first["forwards"]) == (20, None, 20)
    assert first["gain_low"] <= first["accuracy"] - first["zero_shot"]
    assert quick.rows_of(part, tmp_path, 1, with_torch=False, kept=True) == rows


def test_stages_of_two_recipes():
    made = recipes.recipe_of("realign+head")
    assert [stage["kind"] for stage in made["stages"]] == ["realign", "head"]


@pytest.mark.slow
def test_a_float_network_is_the_imported_one():
    """Its logits are the integer network's but for the rounding of activations."""
    why = networks.missing("cifar10")
    if why:
        pytest.skip(why)
    model = modelfile.unpack(networks.model_bytes("cifar10"))
    images = datasets.load("cifar10", "test")[0][:50]
    net = floatnet.of_data("cifar10")
    assert sum(layer.bn is not None for layer in net.layers) == 9
    found = network.forward(net.fold(), images / np.float32(255))[-1].reshape(50, -1)
    expected = batch.logits(model, images) / 4096
    assert np.corrcoef(found.ravel(), expected.ravel())[0, 1] > 0.99
    assert np.abs(found - expected).mean() < 0.1 * expected.std()
