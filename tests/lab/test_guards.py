"""The study of guards says what a guarded run does."""

import json

import pytest
from click.testing import CliRunner

import microzo
from microzo_host.simulation import jobs, networks, recipes

pytest.importorskip("microzo_lab", reason="the laboratory is not in this copy")
from microzo_lab import guards  # noqa: E402


@pytest.mark.slow
@pytest.mark.parametrize("labelled", (True, False))
def test_it_foresees_what_a_run_keeps(labelled, tmp_path, monkeypatch):
    monkeypatch.setattr(guards.accuracy, "BUILD", tmp_path)
    arguments = ["mnist", "noise:2", "--samples", "40", "--test-images", "50"]
    assert "noise:2" in CliRunner().invoke(guards.command, arguments).output
    found = json.loads((tmp_path / "study" / "guards-mnist.json").read_text())
    assert [row["stage"] for row in found] == ["realign", "refilter"]
    made = recipes.settings(recipes.recipe_of("refilter"), ["samples=40", "realign.guard="])
    made["stages"][1]["guard"] = "all" if labelled else "free"
    path = tmp_path / "model.safetensors"
    path.write_bytes(networks.model_bytes("mnist"))
    job = jobs.Job("noise", 2, 0, "", 50, "mnist", 40)
    trainer = microzo.Trainer(microzo.load(str(path)), made, seed=0)
    for _ in trainer.run(microzo.ArrayData(*jobs.adaptation(job, 40))):
        pass
    key = "kept" if labelled else "kept_without_labels"
    word = "kept" if found[1][key] else "rolled back"
    assert trainer.outcomes()[1].startswith(f"refilter {word}")
