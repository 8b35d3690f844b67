"""Float networks, their quantization, and the batch integer forward against the oracle."""

import dataclasses
import math

import networks
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microzo.net import arena as planner
from microzo.net import words as L
from microzo_host import reference as oracle
from microzo_host.data import datasets, demonet
from microzo_host.model import file as modelfile
from microzo_host.model import network, quantize
from microzo_host.reference import batch
from microzo_host.reference.requant import multiplier, requant


@pytest.fixture(scope="module")
def net():
    return networks.residual()


@pytest.fixture(scope="module")
def model(net):
    return quantize.quantize(net, networks.images(256, net.input_shape))


@pytest.fixture(scope="module")
def digits():
    calib = datasets.load("mnist", "pretrain")[0][:300]
    return demonet.pretrained("mnist"), calib, datasets.load("mnist", "test")


def float_logits(net, images):
    return network.forward(net.fold(), images / np.float32(255))[-1].reshape(len(images), -1)


def test_folding_keeps_the_function(net):
    x = network.forward(net.fold(), networks.images(5, net.input_shape) / np.float32(255))
    stem, norm = net.layers[1], net.layers[1].bn
    plain = network.apply(dataclasses.replace(stem, bn=None, bias=np.zeros(4, np.float32),
                                              activation="none"), x[1])  # fmt: skip
    normalized = (plain - norm.mean) / np.sqrt(norm.var + norm.eps) * norm.gamma + norm.beta
    assert np.allclose(x[2], np.clip(normalized, 0, 6), atol=1e-5)


def test_int8_logits_are_near_the_float_ones(net, model):
    x = networks.images(300, net.input_shape, seed=9)
    expected, found = float_logits(net, x), batch.logits(model, x) / 4096
    spread = expected.std()
    assert np.abs(found - expected).mean() < 0.05 * spread
    assert np.abs(found - expected).max() < 0.4 * spread


def test_weights_and_scales(net, model):
    for layer, op in zip(net.fold().layers, model.ops, strict=True):
        if op.weight is None:
            continue
        peak = np.abs(layer.weight).max(axis=(1, 2, 3))
        scale = peak / 127
        assert np.abs(op.weight.reshape(layer.weight.shape) * scale[:, None, None, None]
                      - layer.weight).max() <= 0.5001 * scale.max()  # fmt: skip
        assert (np.abs(op.weight.astype(int)).reshape(len(peak), -1).max(1) == 127).all()
        in_scale = model.scales[op.in1]
        assert (
            np.abs(op.bias * in_scale * scale - layer.bias).max() <= 0.51 * in_scale * peak.max()
        )
        eff = op.mults * 2.0 ** (op.shifts.astype(int) - 31)
        assert np.allclose(eff, in_scale * scale / model.scales[op.out], rtol=1e-6)


def test_limits_of_training(model):
    for op in model.ops:
        if op.weight is None:
            continue
        reach = max(127 - op.in_zp, op.in_zp + 128)
        bound = (127 + op.eps_w) * reach * op.row + op.b_max
        safe = [bound << f < 1 << 30 and (127 + op.eps_w) << f < 1 << 15 for f in range(9)]
        assert op.f == max(f for f in range(9) if safe[f])
        assert np.abs(op.bias).max() <= op.b_max
        assert 1 <= op.eps_w <= 127 and 1 <= op.eps_b <= 16


def test_activation_functions_become_clamps(net, model):
    for layer, op in zip(net.layers, model.ops, strict=True):
        if layer.activation == "none":
            assert (op.act_min, op.act_max) == (-128, 127)
        else:
            assert op.act_min == op.out_zp
    stem = model.ops[1]
    top = (stem.act_max - stem.out_zp) * model.scales[2]
    assert stem.act_max == 127 or abs(top - 6) <= model.scales[2]


def test_clean_statistics_are_those_of_the_accumulators(model):
    x = networks.images(256, (9, 7, 2))
    stem = model.ops[1]
    padded = batch.run_op(model.ops[0], model.table[x])
    acc = batch.accumulators(stem, padded).reshape(-1, stem.out_c)
    assert np.abs(stem.stats[0] - acc.mean(0)).max() <= 0.5001
    assert np.abs(stem.stats[1] / 16 - acc.std(0)).max() <= 0.1
    assert model.ops[-1].stats is None
    assert all(op.stats is not None for op in model.ops[:-1] if op.weight is not None)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 40), st.sampled_from([10, 1000, 1 << 20, 1 << 30])
)
def test_channel_statistics_follow_the_oracle(seed, n, peak):
    acc = np.random.Generator(np.random.PCG64(seed)).integers(-peak + 1, peak, (n, 3))
    sums = np.concatenate([acc.sum(0), (acc**2).sum(0)]).astype(np.int64)
    out = np.zeros(6, np.int32)
    if int(sums[3:].max()) < 1 << 62 and peak**2 * n < 1 << 62:
        oracle.stats_finish(n, 0, sums, out)
        assert (quantize.channel_statistics(acc) == out.reshape(2, 3)).all()


@settings(max_examples=200, deadline=None)
@given(st.floats(1e-12, 1e8))
def test_multiplier(scale):
    mult, shift = multiplier(scale)
    if mult == 0:
        assert scale < 2.0**-31
        return
    assert 1 << 30 <= mult < 1 << 31 and -31 <= shift <= 30
    assert math.isclose(mult * 2.0 ** (shift - 31), scale, rel_tol=2.0**-30)


@settings(max_examples=200, deadline=None)
@given(st.integers(-(1 << 30), 1 << 30), st.integers(1 << 30, (1 << 31) - 1), st.integers(-31, 30))
def test_requant_follows_the_oracle(acc, mult, shift):
    out = np.zeros(1, np.int32)
    oracle.requant(np.array([acc], np.int32), mult, shift, out)
    assert requant(np.array([acc]), mult, shift)[0] == out[0]


def oracle_logits(model, images):
    """Logits and class by the native API of the oracle, image by image."""
    tensors, _ = modelfile._tensors(model)
    plan = tensors["plan"].copy()
    blob = b"".join(t.tobytes() for name, t in tensors.items() if name != "plan")
    words = plan.tolist()
    arena = bytearray(planner.layout(words))
    state = bytearray(planner.place_state(words, ()))
    plan[:] = words
    at, rows = words[L.LOGITS_OFF], []
    for image in images:
        oracle.input(plan, blob, arena, image.tobytes())
        oracle.forward(plan, blob, state, arena, 0, len(model.ops), 0)
        rows.append(np.frombuffer(bytes(arena[at : at + 4 * model.classes]), np.int32))
    return np.array(rows)


def test_forward_follows_the_oracle(model):
    x = networks.images(12, (9, 7, 2), seed=3)
    assert (batch.logits(model, x) == oracle_logits(model, x)).all()


def test_forward_of_digits_follows_the_oracle(digits):
    float_net, calib, (x, _) = digits
    model = quantize.quantize(float_net, calib)
    assert (batch.logits(model, x[:4]) == oracle_logits(model, x[:4])).all()


@pytest.mark.slow
def test_digits_lose_nothing_in_int8(digits):
    float_net, calib, (x, y) = digits
    model = quantize.quantize(float_net, calib)
    exact = 100 * (float_logits(float_net, x).argmax(1) == y).mean()
    assert exact > 97 and batch.accuracy(model, x, y) > exact - 0.31
    assert model.weights == 17856


def test_quantization_is_deterministic(net, model):
    again = quantize.quantize(networks.residual(), networks.images(256, net.input_shape))
    assert modelfile.pack(again) == modelfile.pack(model)


def test_a_network_that_ends_in_a_pool():
    net = networks.residual()
    net = network.Network(net.input_shape, net.layers[:9], "pooled")
    model = quantize.quantize(net, networks.images(64, net.input_shape))
    x = networks.images(10, net.input_shape, seed=2)
    assert model.logit_mult >= 1 << 30 and not any(op.flags for op in model.ops)
    assert (batch.logits(model, x) == oracle_logits(model, x)).all()
    assert np.abs(batch.logits(model, x) / 4096 - float_logits(net, x)).max() < 0.2


def test_dead_and_bias_only_channels():
    net = networks.residual()
    stem = net.layers[1]
    stem.weight[0] = 0
    stem.weight[1] *= 1e-9
    stem.bn.beta[:2] = 0, 1.5
    model = quantize.quantize(net, networks.images(64, net.input_shape))
    x = networks.images(50, net.input_shape, seed=2)
    assert np.abs(batch.logits(model, x) / 4096 - float_logits(net, x)).mean() < 0.2


def test_bad_calibration_images(net):
    good = networks.images(4, net.input_shape)
    for bad in (good / 255, good[..., :1], good[0]):
        with pytest.raises(ValueError, match="takes uint8"):
            quantize.quantize(net, bad)
    with pytest.raises(ValueError, match="no calibration images"):
        quantize.quantize(net, good[:0])


def test_weights_that_are_no_numbers_are_named():
    broken = networks.residual()
    broken.layers[3].weight[0] = np.nan
    with pytest.raises(ValueError, match=f"{broken.layers[3].name}.*no numbers"):
        quantize.quantize(broken, networks.images(8, broken.input_shape))


def test_too_wide_a_layer_is_named():
    weight = np.ones((2, 1, 1, 40000), np.float32)
    layers = [network.Layer("dense", "huge", (0,), weight, np.zeros(2, np.float32))]
    net = network.Network((200, 200, 1), layers)
    with pytest.raises(ValueError, match="'huge' has 40000 weights.*narrower"):
        quantize.quantize(net, networks.images(2, net.input_shape))


@pytest.mark.parametrize(
    "index, fields, message",
    [
        (1, {"kind": "lstm"}, "'stem' has unknown kind 'lstm'"),
        (1, {"activation": "gelu"}, "'stem' has unknown activation 'gelu'"),
        (1, {"inputs": (4,)}, "'stem' reads tensors"),
        (4, {"inputs": (4, 6)}, "'skip' reads tensors"),
        (4, {"inputs": (4, 3)}, "'skip' adds"),
        (1, {"weight": np.zeros((4, 3, 3, 3), np.float32)}, "'stem' expects 3 channels"),
        (2, {"weight": np.zeros((6, 3, 3, 1), np.float32)}, "depthwise layer 'wide'"),
        (9, {"weight": np.zeros((3, 1, 1, 7), np.float32)}, "'head' has 7 inputs"),
        (7, {"weight": np.zeros((6, 9, 9, 4), np.float32)}, "'last' has no output"),
    ],
)
def test_a_network_that_does_not_fit(net, index, fields, message):
    layers = list(net.layers)
    layers[index] = dataclasses.replace(layers[index], **fields)
    with pytest.raises(ValueError, match=message):
        network.Network(net.input_shape, layers)
