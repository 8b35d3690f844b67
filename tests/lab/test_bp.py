"""The back-propagation yardstick; needs PyTorch (the optional extra `study`)."""

import networks
import numpy as np
import pytest

from microzo_host.data import corruptions, datasets, demonet
from microzo_host.model import network, quantize
from microzo_host.reference import batch

pytest.importorskip("microzo_lab", reason="the laboratory is not in this copy")
from microzo_lab import bp, torchnet  # noqa: E402

pytest.importorskip("torch")


def test_the_module_is_the_network():
    net = networks.residual()
    x = networks.images(6, net.input_shape)
    module = torchnet.build(net).eval()
    expected = network.forward(net.fold(), x / np.float32(255))[-1].reshape(6, -1)
    assert np.allclose(module(torchnet.to_tensor(x)).detach().numpy(), expected, atol=1e-5)
    assert (torchnet.predict(module, x) == expected.argmax(1)).all()


def test_export_undoes_build():
    net = networks.residual()
    again = torchnet.export(torchnet.build(net), net)
    for a, b in zip(net.layers, again.layers, strict=True):
        assert (a.weight is None) == (b.weight is None)
        if a.weight is not None:
            assert np.array_equal(a.weight, b.weight)
        if a.bn is not None:
            assert np.array_equal(a.bn.var, b.bn.var) and np.array_equal(a.bn.beta, b.bn.beta)


@pytest.fixture(scope="module")
def foggy():
    parts = []
    for split, n, seed in (("adapt", 64, 0), ("test", 300, 1)):
        x, y = datasets.load("mnist", split)
        index = datasets.draw_balanced(y, n, seed)
        parts.append((corruptions.apply("noise", x[index], 4, seed), y[index]))
    return parts


@pytest.mark.parametrize("mode, adapt", [("full", True), ("bn", False), ("head", False)])
def test_each_mode_learns_and_changes_only_its_part(foggy, mode, adapt):
    net = demonet.pretrained("mnist")
    tuned = bp.finetune(net, *foggy[0], mode, adapt, epochs=5)
    before = batch.accuracy(quantize.quantize(net, foggy[0][0]), *foggy[1])
    after = batch.accuracy(quantize.quantize(tuned, foggy[0][0]), *foggy[1])
    assert after > before + 2
    stem, head = tuned.layers[0], tuned.layers[-1]
    assert not np.array_equal(head.weight, net.layers[-1].weight)
    assert np.array_equal(stem.weight, net.layers[0].weight) == (mode != "full")
    assert np.array_equal(stem.bn.gamma, net.layers[0].bn.gamma) == (mode == "head")
    assert np.array_equal(stem.bn.mean, net.layers[0].bn.mean) == (not adapt)


def test_bad_requests(foggy):
    net = demonet.pretrained("mnist")
    with pytest.raises(ValueError, match="unknown mode 'tail'"):
        bp.finetune(net, *foggy[0], mode="tail")
    with pytest.raises(ValueError, match="no BatchNorm"):
        bp.finetune(net.fold(), *foggy[0])
