"""Layer choice: by gradient or by a test step, within budgets of bytes and of passes."""

import numpy as np
import pytest
import small

import microzo
from microzo.net import words as L
from microzo.recipes import resolve as program
from microzo.search import layers as picker
from microzo_host import native
from microzo_host import reference as oracle


def recipe(**changes):
    made = small.short("spsa")
    made["stages"][0].update(guard="", **changes)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("how", ("gradient", "test"))
def test_the_choice_is_the_same_on_every_backend_and_in_the_journal(
    how, tmp_path, model_path, data, with_kernels
):
    found = []
    for module in (native, oracle):
        with_kernels(module)
        model, path = microzo.load(model_path), str(tmp_path / module.__name__)
        trainer = small.train(model, data, recipe(pick=how, top=2), journal=path)
        (note,) = trainer.program["notes"]
        assert note.startswith("operators ") and how in note
        copy = microzo.load(model_path)
        assert microzo.replay(copy, path) is True and bytes(copy.state) == bytes(model.state)
        found.append((trainer.program["stages"][0]["ops"], note, bytes(model.state)))
    assert found[0] == found[1] and 1 <= len(found[0][0]) <= 2


def test_the_gradient_score_is_that_of_finite_differences(model, data):
    """|g| from the loss differences of random signs, against one coordinate at a time."""
    op, samples = 4, range(12)
    o = L.op_base(op)
    model.place([(op, 1)])
    plan = model.plan
    n = plan[o + L.OUT_C] * plan[o + L.IN_C]
    at = plan[o + L.MASTER_OFF]
    sample = bytearray(model.sample_len)
    eps = max(1, plan[o + L.EPS_W])

    def loss():
        total = 0
        for j in samples:
            label = data.read_into(j, sample)
            model.input(sample)
            model.forward()
            total += model.k.loss(plan, model.arena, label, np.zeros(0, np.int32))
        return total

    masters = np.frombuffer(memoryview(model.state), np.int16)[at // 2 : at // 2 + n]
    gradient = []
    inside = np.flatnonzero(abs(masters) <= (127 - eps) * 256)
    for i in inside:
        both = []
        for sign in (1, -1):
            masters[i] += sign * 256 * eps
            both.append(loss())
            masters[i] -= sign * 256 * eps
        gradient.append(both[0] - both[1])
    k, out = model.k, np.zeros(2, np.int32)
    squares = []
    for q in range(64):
        d = 0
        for j in samples:
            label = data.read_into(j, sample)
            model.input(sample)
            params = np.array([0, q, label, 0, 1, op, op + 1, 0], np.int32)
            k.probe(plan, model.blob, model.state, model.arena, params, out)
            d += int(out[0]) - int(out[1])
        squares.append(d * d)
    want = np.sum(np.square(gradient)) * n / len(inside)
    assert np.mean(squares) == pytest.approx(want, rel=0.5)


def stage(**changes):
    return dict(microzo.recipe("spsa")["stages"][0], pick="gradient", **changes)


def test_best_per_byte_first_and_no_harm(model):
    found = {0: 100, 1: 90, 2: -5, 4: 10}
    chosen, note = picker.choose(model.plan, stage(top=3), found, lambda ops: True)
    assert chosen == [0, 1, 4] and "2: -5" in note
    assert picker.choose(model.plan, stage(top=1), found, lambda ops: True)[0] == [0]
    per_byte = {0: 100, 1: 100, 2: 100, 4: 100}  # 2 has most weights, 4 fewest
    for n, ops in ((1, [4]), (3, [0, 2, 4])):
        assert picker.choose(model.plan, stage(top=n), per_byte, lambda ops: True)[0] == ops


def test_budgets_bind(model):
    found = {0: 100, 1: 90, 2: 80, 4: 10}
    late = picker.choose(model.plan, stage(macs=2100), found, lambda ops: True)[0]
    assert late == [2, 4]
    small_memory = picker.choose(model.plan, stage(), found, lambda ops: len(ops) < 2)[0]
    assert small_memory == [0]


def test_ram_limits_the_choice(model, data):
    want = recipe(pick="gradient", top=4)
    free = microzo.Trainer(model, want)
    free.run(data)
    assert len(free.program["stages"][0]["ops"]) == 4
    model.reset()
    one = program.needs(
        model, program.resolve(model, recipe(), [4], 60, True, None, None, True), True
    )
    search = 16 * 32  # bytes that the 32 probes of the search take
    tight = microzo.Trainer(model, want, ram=sum(one.values()) + search + 50)
    tight.run(data)
    ops = tight.program["stages"][0]["ops"]
    assert 1 <= len(ops) < 4
    assert tight.memory(60).total <= sum(one.values()) + search + 50


def test_layers_of_the_user_win(model, data):
    trainer = small.train(model, data, recipe(pick="test"), layers=[1])
    assert trainer.program["stages"][0]["ops"] == [1] and trainer.program["notes"] == []


def test_pick_needs_labels_and_samples(model, data_paths):
    made = recipe(pick="gradient")
    made["stages"] = small.short("realign")["stages"] + made["stages"]
    with pytest.raises(ValueError, match="pick compares losses"):
        microzo.Trainer(model, made).run(microzo.Dataset(data_paths[0]))
    with pytest.raises(ValueError, match="give layers instead"):
        microzo.Trainer(model, recipe(pick="test")).step(bytes(model.sample_len), 0)


def test_pick_is_for_spsa(model):
    made = small.short("elastic")
    made["stages"][0]["pick"] = "test"
    with pytest.raises(ValueError, match="stage elastic has no setting 'pick'"):
        microzo.Trainer(model, made)
