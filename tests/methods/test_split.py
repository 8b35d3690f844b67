"""Weights or nodes for each operator: by the block threshold, or by what they cost."""

import pytest
import small

import microzo
from microzo.recipes import allocate as split
from microzo.recipes import resolve as program


def stages(model, which, layers="auto"):
    made = microzo.recipe("pmt")
    made["split"] = which
    found = program.resolve(model, made, layers, 256, True, None, None, True)["stages"]
    return [(s["kind"], s["ops"]) for s in found]


def test_the_block_threshold(model):
    assert stages(model, 1) == [("spsa", [0, 4]), ("node", [1]), ("node", [2])]
    assert stages(model, 0, [1, 2]) == [("node", [1]), ("node", [2])]
    assert stages(model, 4) == [("spsa", [0, 1, 2, 4])]


def test_nodes_share_the_epochs(model):
    made = microzo.recipe("pmt")
    made["split"] = 1
    found = program.resolve(model, made, "auto", 256, True, None, None, True)["stages"]
    del made["split"]
    whole = program.resolve(model, made, "auto", 256, True, None, None, True)["stages"]
    assert [s["kind"] for s in whole] == ["spsa", "node"]
    assert sum(s["steps"] for s in found if s["kind"] == "node") == whole[-1]["steps"]


def test_size_prefers_nodes_where_they_are_few_for_many_weights(model):
    """A convolution of 8192 weights and 64 nodes, and one of 64 weights and 8192 nodes."""
    plan, made = model.plan, microzo.recipe("pmt")
    from microzo.net import words as L

    o = L.op_base(2)
    made["split"] = "size"

    def shape(side, inputs, outputs):
        words = (L.OUT_H, L.OUT_W, L.IN_C, L.OUT_C)
        for word, value in zip(words, (side, side, inputs, outputs), strict=True):
            plan[o + word] = value
        return split.nodes(plan, made, [2])

    assert shape(1, 128, 64) == [2]
    assert shape(32, 8, 8) == []


@pytest.mark.parametrize("which", ("size", 1))
def test_a_split_run_replays(which, tmp_path, model_path, data):
    made, path = small.short("pmt"), str(tmp_path / "run")
    made["split"] = which
    model = microzo.load(model_path)
    small.train(model, data, made, journal=path)
    copy = microzo.load(model_path)
    assert microzo.replay(copy, path, data) is True
    assert bytes(copy.state) == bytes(model.state)


def test_bad_splits_are_refused(model):
    made = microzo.recipe("pmt")
    for bad in ("half", -1, 1.5):
        with pytest.raises(ValueError, match="split is"):
            microzo.Trainer(model, dict(made, split=bad))
    with pytest.raises(ValueError, match=r"split is an operator, 0..4 of this model, not 9"):
        stages(model, 9)
    spsa = dict(microzo.recipe("spsa"), split="size")
    with pytest.raises(ValueError, match="an spsa and a node stage"):
        microzo.Trainer(model, spsa).memory()
