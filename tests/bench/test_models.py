"""Whole models on the M4: the same count twice, and the targets."""

import shutil

import costs
import goals
import models
import pytest
import targets
from cores import CORES

import microzo

LIMITS = {name: limits[0] for name, limits in goals.MODELS.items()}  # on M4


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    for tool in ("arm-none-eabi-gcc", "qemu-system-arm"):
        if not shutil.which(tool):
            (pytest.fail if targets.STRICT else pytest.skip)(f"{tool} is not installed")
    pytest.importorskip("tflite", reason="the package tflite reads the files")
    folder = tmp_path_factory.mktemp("models")
    files = models.model_files(folder)
    loaded = {name: microzo.load(str(file)) for name, file in files.items() if name in LIMITS}
    if not loaded:
        pytest.skip(f"{models.SHARED} is not here")
    counted = {**loaded, "kinds": costs.rare_kinds()}
    image = folder / "models.bin"
    image.write_bytes(models.image(counted))
    found = models.count(CORES["m4"], folder / "obj", image)  # raises if two runs differ
    made = {name: list(models.layers("m4", name, m, found)) for name, m in counted.items()}
    return {
        name: (layers, models.row("m4", name, layers, (0, 0))) for name, layers in made.items()
    }


@pytest.mark.parametrize("name", LIMITS)
def test_instructions(name, rows):
    if name not in rows:
        pytest.skip(f"{name} is not in {models.SHARED}")
    assert 0.5e6 < rows[name][1]["instructions"] <= LIMITS[name] * 1e6


@pytest.mark.parametrize("name", goals.TAIL)
def test_gradient_in_closed_form(name, rows):
    """The largest convolution before the head."""
    if name not in rows:
        pytest.skip(f"{name} is not in {models.SHARED}")
    tail = max((r for r in rows[name][0] if r["tail"]), key=lambda r: r["macs"])
    assert 0.3 < tail["tail"] / tail["macs"] <= goals.TAIL[name]


def test_the_table_tells_a_forward(rows):
    """The fitted costs give a whole pass within a tenth."""
    operators = [layer for layers, _ in rows.values() for layer in layers]
    kinds = costs.fit_all(operators)
    for name in set(rows) - {"kinds"}:
        layers, row = rows[name]
        told = sum(sum(kinds[r["kind"]][t] * r[t] for t in costs.TERMS) for r in layers)
        assert abs(told - row["instructions"]) < 0.1 * row["instructions"]
