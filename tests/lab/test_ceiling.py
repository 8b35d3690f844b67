"""The study of exact channel gradients: the passes are the module's, and the credit is local."""

import networks
import numpy as np
import pytest

pytest.importorskip("microzo_lab", reason="the laboratory is not in this copy")
from microzo_lab import ceiling, torchnet  # noqa: E402

t = pytest.importorskip("torch")


def made(chosen):
    net = networks.residual()
    module = torchnet.build(net).eval()
    x = torchnet.to_tensor(networks.images(5, net.input_shape))
    return module, ceiling.Forward(t, module, net, chosen), x


def test_logits_are_those_of_the_module():
    module, forward, x = made({"3", "7"})
    assert np.allclose(forward(x).detach(), module(x).detach(), atol=1e-5)


@pytest.mark.parametrize(("name", "pooled"), (("7", True), ("3", False)))
def test_biases_get_their_gradient_weights_only_where_a_pool_lies_behind(name, pooled):
    """Averaged over the free positions of a channel, their sum stays what it was."""
    module, forward, x = made({name})
    block = module.blocks[name]
    found = []
    for logits in (module(x), forward(x)):
        module.zero_grad()
        (logits**2).sum().backward()
        found.append((block.bn.bias.grad.clone(), block.weight.grad.clone()))
    assert t.allclose(found[0][0], found[1][0], rtol=1e-3, atol=1e-5)
    assert t.allclose(found[0][1], found[1][1], rtol=1e-2) == pooled
