"""node with per_channel: all positions of a channel move together; an ADD; replay, settings."""

from array import array

import numpy as np
import pytest
import small

import microzo
from microzo.net import arena as planner
from microzo.net import words as L

SHARED = 4


def stage(**changes):
    made = small.short("channel")
    made["stages"] = [made["stages"][-1]]
    made["stages"][0].update(guard="", **changes)
    return made


def probed(model, data, op, probes, mode=SHARED, eps=2):
    """(sums of the free outputs of op after `probes` calls on sample 0, its outputs)."""
    model.place([(op, L.WEIGHTS | L.BIASES)])
    model.relayout(op, (op,))
    n = planner.out_size(model.plan, L.op_base(op))
    y, sums, out = bytearray(n), array("i", bytes(4 * n)), array("i", (0, 0))
    sample = bytearray(model.sample_len)
    label = data.read_into(0, sample)
    model.input(sample)
    model.forward(0)
    for q in range(probes):
        params = array("i", (op, q, label, mode, eps, 256, 4, 32767))
        model.k.node(model.plan, model.blob, model.state, model.arena, params, y, sums, out)
    o = L.op_base(op)
    clean = np.frombuffer(y, np.int8)
    free = (clean > model.plan[o + L.ACT_MIN]) & (clean < model.plan[o + L.ACT_MAX])
    return np.array(sums).reshape(-1, model.plan[o + L.OUT_C]), free.reshape(
        -1, model.plan[o + L.OUT_C]
    )


@pytest.mark.parametrize("op", (0, 1, 2))
def test_free_positions_of_a_channel_have_one_credit(op, model, data):
    sums, free = probed(model, data, op, 5)
    assert free.any() and not sums[~free].any()
    for c in range(sums.shape[1]):
        assert len(set(sums[free[:, c], c])) <= 1


def test_its_credit_is_the_sum_over_the_positions(model_path, data):
    """For a channel in all, what single nodes say in the mean over many probes."""
    op = 2
    shared, free = probed(microzo.load(model_path), data, op, 512)
    single, _ = probed(microzo.load(model_path), data, op, 4096, 0, 8)
    mean = np.array([shared[free[:, c], c].mean() if free[:, c].any() else 0
                     for c in range(shared.shape[1])]) / 512  # fmt: skip
    assert np.corrcoef(mean, single.sum(axis=0))[0, 1] > 0.8


def test_channel_replays_with_its_data_alone(tmp_path, model_path, data):
    small.replays_with_its_data_alone(tmp_path, model_path, data, stage())


def test_shared_and_single_signs_move_other_weights(model_path, data):
    found = set()
    for shared in (0, 1):
        model = microzo.load(model_path)
        small.train(model, data, stage(per_channel=shared))
        found.add(bytes(model.state))
    assert len(found) == 2


def test_per_channel_is_0_or_1(model):
    with pytest.raises(ValueError, match="stage node: per_channel"):
        microzo.Trainer(model, stage(per_channel=2))


def test_little_memory_takes_the_operator_without_the_head(model):
    whole = microzo.Trainer(model, stage()).memory(40).total
    notes = microzo.Trainer(model, stage(), ram=whole - 1).memory(40).notes
    assert "node of operator 2, which needs" in notes[0]
    assert "node of operator 2 without the head instead" in notes[0]
