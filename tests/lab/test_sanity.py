"""The sanity study: its recipes are legal, its runs are measured, kept and told."""

import json

import pytest
from click.testing import CliRunner

import microzo.recipes.names
from microzo_host.simulation import networks

pytest.importorskip("microzo_lab", reason="the laboratory is not in this copy")
from microzo_lab import sanity  # noqa: E402

pytestmark = pytest.mark.skipif(bool(networks.missing("fashion")), reason="no Fashion-MNIST")


def test_recipes_are_legal():
    variants = [v for _, found, _ in sanity.claims().values() for v in found]
    for made in variants + sanity.settings():
        recipe = json.loads(made.recipe)
        microzo.recipes.names.check(recipe)
        assert all(stage["guard"] == "" for stage in recipe["stages"]), made.label
    assert len({made.recipe for made in variants}) == len(variants)


def test_a_claim_is_measured_kept_and_told(tmp_path, monkeypatch):
    few = {"steps": 2, "probes": 2, "samples": 2}
    claim = ("it learns", [sanity.variant("short", **few)], lambda m: m[0]["accuracy"] > 101)
    monkeypatch.setattr(sanity, "claims", lambda: {"learning": claim})
    arguments = ["--seeds", "3", "--corruptions", "noise", "rotate", "--test-images", "20"]
    arguments += ["--out", str(tmp_path / "sanity.json")]
    told = CliRunner().invoke(sanity.command, arguments).output
    row = json.loads((tmp_path / "sanity.json").read_text())[0]
    assert (row["claim"], row["holds"], row["seeds"]) == ("learning", False, [3])
    found = row["variants"][0]
    assert found["runs"] == 2 and 0 <= found["accuracy"] <= 100
    assert found["loss_after"] != found["loss_before"]
    assert "learning: it learns: DOES NOT HOLD" in told
    monkeypatch.setattr(sanity, "measure", None)  # what is on disk is not run again
    assert CliRunner().invoke(sanity.command, arguments).exit_code == 0
    assert json.loads((tmp_path / "sanity.json").read_text())[0] == row


def test_changes_reach_the_variants_that_know_them():
    made = [sanity.variant("weights"), sanity.variant("nodes", "node")]
    found = sanity.changed(made, ["node.conv_shift=3", "node.model_wise=1"])
    assert [v.label for v in found] == ["nodes"]
    stage = json.loads(found[0].recipe)["stages"][-1]
    assert (stage["conv_shift"], stage["model_wise"]) == (3, 1)
    assert sanity.changed(made, []) == made
