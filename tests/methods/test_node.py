"""node: what it perturbs, that its gradient points the right way, replay, settings."""

from array import array

import numpy as np
import pytest
import small

import microzo
from microzo.net import arena as planner
from microzo.net import words as L


def stage(**changes):
    made = small.short("node")
    made["stages"] = [made["stages"][1]]
    made["stages"][0].update(guard="", **changes)
    return made


def gradient(model, data, op, probes, eps=4):
    """Mean node gradient of operator op over 4 samples, and the differences it should be."""
    k, o = model.k, L.op_base(op)
    model.place([(op, L.WEIGHTS | L.BIASES)])
    model.relayout(op, (op,))
    n = planner.out_size(model.plan, o)
    count = model.plan[o + L.OUT_C] * (planner.row_len(model.plan, o) + 1)
    y, sums, grad = bytearray(n), array("i", bytes(4 * n)), array("i", bytes(4 * count))
    out, sample = array("i", (0, 0)), bytearray(model.sample_len)
    for i in range(4):
        label = data.read_into(i, sample)
        model.input(sample)
        model.forward(0)
        for q in range(probes):
            params = array("i", (op, 1000 * i + q, label, 0, eps, 256, 9, 32767))
            k.node(model.plan, model.blob, model.state, model.arena, params, y, sums, out)
        k.node_grad(model.plan, model.arena, op, 0, sums, grad)
    return np.array(grad, float)


@pytest.mark.parametrize("op", (0, 1, 2))
def test_a_step_against_the_gradient_lowers_the_loss(op, model, data):
    g = gradient(model, data, op, 64)
    before = small.losses(model, data)
    weights = g[: -model.plan[L.op_base(op) + L.OUT_C]]
    o = L.op_base(op)
    masters = np.frombuffer(model.state, np.int16, len(weights), model.plan[o + L.MASTER_OFF])
    step = 256 * weights / np.abs(weights).mean()
    masters[...] = np.clip(masters - step, -32512, 32512)
    assert small.losses(model, data) < before


def test_output_is_left_as_it_was_and_saturated_nodes_are_masked(model, data):
    op, o = 2, L.op_base(2)
    gradient(model, data, op, 1)
    y = np.array(model.output(op))
    n = len(y)
    sums, copy = array("i", bytes(4 * n)), bytearray(n)
    params = array("i", (op, 5, 1, 0, 16, 256, 0, 1000))
    model.k.node(
        model.plan, model.blob, model.state, model.arena, params, copy, sums, array("i", (0, 0))
    )
    assert (np.array(model.output(op)) == y).all() and bytes(copy) == y.tobytes()
    free = (y > model.plan[o + L.ACT_MIN]) & (y < model.plan[o + L.ACT_MAX])
    assert free.any() and not free.all()
    assert ((np.array(sums) != 0) == free).all()


def test_node_replays_with_its_data_alone(tmp_path, model_path, data):
    small.replays_with_its_data_alone(tmp_path, model_path, data, stage())


def test_layers_choose_the_operator(model_path, data):
    for layers, op in (("auto", [2]), ([1], [1])):
        trainer = small.train(microzo.load(model_path), data, stage(), layers=layers)
        assert trainer.program["stages"][0]["ops"] == op


def test_without_the_head_only_the_operator_moves(model, data):
    trainer = small.train(model, data, stage(train_head=0))
    assert trainer.program["stages"][0]["head"] == -1
    assert model.plan[L.op_base(4) + L.MASTER_OFF] == -1


def shift_of(model_path, data, **changes):
    return small.begun(microzo.load(model_path), data, stage(**changes)).stage().sizes[0]


def test_norm_scaling_shortens_steps_of_few_probes(model_path, data):
    found = [
        shift_of(model_path, data, norm_scaling=kind, batch=4, conv_shift=0)
        for kind in ("", "root", "plain")
    ]
    assert found == sorted(set(found))


def test_bad_settings_are_refused(model):
    with pytest.raises(ValueError, match="stage node: eps"):
        microzo.Trainer(model, stage(eps=0))
