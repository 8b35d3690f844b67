"""node with model_wise: one loss difference moves every operator; replay, plan, refusals."""

import numpy as np
import pytest
import small

import microzo
from microzo.kernel import python as pykernels
from microzo.methods.gradient import GradientBuffers
from microzo.methods.nodes import AllNodes
from microzo.net import arena as planner
from microzo.net import words as L
from microzo.net.trainable import kept
from microzo.recipes import resolve as program
from microzo_host import native
from microzo_host import reference as oracle


def stage(samples=40, **changes):
    made = small.short("node", samples)
    made["stages"] = [made["stages"][1]]
    made["stages"][0].update(guard="", model_wise=1, **changes)
    return made


def nodes(model, several, probes, eps=4):
    """(AllNodes, its GradientBuffers) of the operators."""
    model.place([(op, L.WEIGHTS | L.BIASES) for op in several])
    live = kept(model.plan, several[0] if len(several) == 1 else -1)
    buffers = GradientBuffers(model, several, -1, live=live, nodes="several")
    buffers.place()
    spec = dict(stage()["stages"][0], eps=eps, probes=probes, clip=32767)
    return AllNodes(model, buffers, spec, 7), buffers


def gradients(model, data, several, probes, eps=4):
    """Gradients of the operators from 4 samples, as numpy arrays, weights then biases."""
    calls, buffers = nodes(model, several, probes, eps)
    sample = bytearray(model.sample_len)
    for i in range(4):
        label = data.read_into(i, sample)
        model.input(sample)
        model.forward(0, several[0]) if several[0] else None
        calls.add(0, i, label)
    return [np.frombuffer(part, np.int32).astype(float) for part in buffers.parts]


@pytest.mark.parametrize("op", (0, 1, 2))
def test_a_step_of_each_operator_lowers_the_loss(op, model, data):
    several = (0, 1, 2)
    g = gradients(model, data, several, 64)[op]
    before = small.losses(model, data)
    o = L.op_base(op)
    weights = g[: -model.plan[o + L.OUT_C]]
    masters = np.frombuffer(model.state, np.int16, len(weights), model.plan[o + L.MASTER_OFF])
    step = 128 * weights / np.abs(weights).mean()
    masters[...] = np.clip(masters - step, -32512, 32512)
    assert small.losses(model, data) < before


def test_one_operator_gets_the_gradient_of_node(model_path, data):
    """With a single operator the passes are those of node, so that the gradient is the same."""
    found = []
    for model_wise in (0, 1):
        model = microzo.load(model_path)
        made = stage(train_head=0)
        made["stages"][0]["model_wise"] = model_wise
        small.train(model, data, made, layers=[1])
        found.append(bytes(model.state))
    assert found[0] == found[1] != b""


def test_every_operator_and_the_head_move(model_path, data):
    model = microzo.load(model_path)
    trainer = microzo.Trainer(model, stage())
    steps = trainer.run(data)
    masters = bytes(model.state)
    list(steps)
    assert trainer.program["stages"][0]["ops"] == [0, 1, 2]
    for op in (0, 1, 2, 4):
        o = L.op_base(op)
        n = 2 * model.plan[o + L.OUT_C] * planner.row_len(model.plan, o)
        at = model.plan[o + L.MASTER_OFF]
        assert bytes(model.state)[at : at + n] != masters[at : at + n]


def test_each_operator_has_its_step_size(model_path, data):
    sizes = small.begun(microzo.load(model_path), data, stage()).stage().sizes
    assert len(sizes) == 4 and len(set(sizes[:3])) > 1  # of the head, too


def test_passes_leave_the_input_of_the_first_operator(model, data):
    """Both passes and the clean one start from it."""
    calls, _ = nodes(model, (1, 2), 3)
    sample = bytearray(model.sample_len)
    label = data.read_into(0, sample)
    model.input(sample)
    model.forward(0, 1)
    pinned = bytes(model.arena)[: model.plan[L.PIN_LEN]]
    calls.add(0, 0, label)
    clean = model.logits()
    assert bytes(model.arena)[: model.plan[L.PIN_LEN]] == pinned
    model.predict(sample)
    assert model.logits() == clean


def test_replay_needs_the_data(tmp_path, model_path, data):
    small.replays_with_its_data_alone(tmp_path, model_path, data, stage())


def test_a_run_goes_on_after_a_power_cut_to_the_same_bits(tmp_path, model_path, data):
    whole = microzo.load(model_path)
    small.train(whole, data, stage())
    path = str(tmp_path / "run")
    trainer = microzo.Trainer(microzo.load(model_path), stage(), journal=path, checkpoint_every=2)
    steps = trainer.run(data)
    for _ in range(5):
        next(steps)
    model = microzo.load(model_path)
    for _ in microzo.resume(model, path).run(data):
        pass
    assert bytes(model.state) == bytes(whole.state)


def test_live_samples_train_it(model_path, data):
    model = microzo.load(model_path)
    trainer = microzo.Trainer(model, stage(samples=16))
    before, sample = bytes(model.state), bytearray(model.sample_len)
    for i in range(8):
        label = data.read_into(i, sample)
        assert trainer.step(sample, label) >= 0
    assert bytes(model.state) != before


@pytest.mark.parametrize("kernels", (oracle, pykernels))
def test_every_kernel_module_gives_the_same_bits(kernels, model_path, data, with_kernels):
    found = []
    for module in (native, kernels):
        with_kernels(module)
        model = microzo.load(model_path)
        small.train(model, data, stage(4, epochs=1, batch=2, probes=2))
        found.append(bytes(model.state))
    assert found[0] == found[1]


def resolved(model, recipe, layers="auto", room=None):
    return program.resolve(model, recipe, layers, 256, True, None, room, True)["stages"]


def test_less_room_means_fewer_operators(model):
    whole = resolved(model, stage())[0]
    assert whole["ops"] == [0, 1, 2] and whole["head"] == 4
    needed = sum(program.needs(model, {"samples": 40, "stages": [whole]}, True).values())
    fewer = resolved(model, stage(), room=needed - 1)[0]
    assert fewer["head"] == -1 or len(fewer["ops"]) < 3
    assert resolved(model, stage(), [0, 2], room=needed - 1)[0]["ops"] == [0, 2]


def test_a_split_keeps_its_nodes_in_one_stage(model, model_path, data, tmp_path):
    made = small.short("pmt")
    made["split"] = 1
    made["stages"][1].update(model_wise=1, guard="")
    found = resolved(model, made)
    assert [s["kind"] for s in found] == ["spsa", "node"]
    assert found[0]["ops"] == [0, 4] and found[1]["ops"] == [1, 2]
    path = str(tmp_path / "run")
    trained = microzo.load(model_path)
    small.train(trained, data, made, journal=path)
    copy = microzo.load(model_path)
    assert microzo.replay(copy, path, data) is True
    assert bytes(copy.state) == bytes(trained.state)


def test_bad_settings_are_refused(model):
    with pytest.raises(ValueError, match=r"stage node: model_wise is 0\.\.1, not 2"):
        microzo.Trainer(model, dict(stage(), stages=[dict(stage()["stages"][0], model_wise=2)]))
    with pytest.raises(ValueError, match="node perturbs an operator before the last"):
        resolved(model, stage(), [4])
