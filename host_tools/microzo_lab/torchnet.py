"""A float network description as a PyTorch module, and back (optional extra ``study``)."""

import dataclasses

import numpy as np

from microzo_host import extras
from microzo_host.model import network


def torch():
    """The torch package, or ImportError that says how to get it."""
    try:
        import torch
    except ImportError:
        raise extras.missing("back-propagation needs PyTorch", "study") from None
    return torch


def build(net):
    """An ``nn.Module`` with the network's parameters; input NxHxWxC float32 in [0, 1]."""
    t = torch()

    class Block(t.nn.Module):
        def __init__(self, layer):
            super().__init__()
            self.layer = layer
            self.weight = t.nn.Parameter(t.tensor(_oihw(layer)))
            self.bias = None
            self.bn = None
            if layer.bias is not None:
                self.bias = t.nn.Parameter(t.tensor(layer.bias))
            if layer.bn is not None:
                self.bn = t.nn.BatchNorm2d(len(layer.weight), eps=layer.bn.eps)
                self.bn.load_state_dict(
                    {
                        "weight": t.tensor(layer.bn.gamma),
                        "bias": t.tensor(layer.bn.beta),
                        "running_mean": t.tensor(layer.bn.mean),
                        "running_var": t.tensor(layer.bn.var),
                        "num_batches_tracked": t.tensor(0),
                    }
                )

        def forward(self, x):
            if self.layer.kind == "dense":
                x = x.permute(0, 2, 3, 1).reshape(len(x), -1, 1, 1)
            groups = x.shape[1] if self.layer.kind == "depthwise" else 1
            x = t.nn.functional.conv2d(
                _pad(t, x, self.layer.pads, 0.0),
                self.weight,
                self.bias,
                self.layer.stride,
                groups=groups,
            )
            return x if self.bn is None else self.bn(x)

    class Net(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = t.nn.ModuleDict(
                {
                    str(i): Block(la)
                    for i, la in enumerate(net.layers)
                    if la.kind in network.WEIGHTED
                }
            )

        def forward(self, x):
            tensors = [x.permute(0, 3, 1, 2)]
            for i, layer in enumerate(net.layers):
                inputs = [tensors[j] for j in layer.inputs]
                if str(i) in self.blocks:
                    out = self.blocks[str(i)](inputs[0])
                else:
                    out = _plain(t, layer, inputs)
                low, high = network.ACTIVATIONS[layer.activation]
                if layer.activation == "relu":
                    out = t.relu(out)
                elif layer.activation != "none":
                    out = out.clamp(low, high)
                tensors.append(out)
            return tensors[-1].flatten(1)

    return Net()


def export(module, net):
    """The network description with the module's present parameters."""
    layers = []
    for i, layer in enumerate(net.layers):
        if layer.kind in network.WEIGHTED:
            layer = _export_layer(module.blocks[str(i)], layer)
        layers.append(layer)
    return network.Network(net.input_shape, layers, net.name)


def to_tensor(images):
    """uint8 NxHxWxC to a float32 torch tensor in [0, 1]."""
    return torch().from_numpy(np.asarray(images, np.float32) / np.float32(255))


def predict(module, images, batch=1000):
    """Class numbers (int64 N) of uint8 images in evaluation mode."""
    t = torch()
    module.eval()
    with t.no_grad():
        parts = [
            module(to_tensor(images[i : i + batch])).argmax(1)
            for i in range(0, len(images), batch)
        ]
    return t.cat(parts).numpy()


def _oihw(layer):
    return np.ascontiguousarray(layer.weight.transpose(0, 3, 1, 2))


def _export_layer(block, layer):
    def numpy(tensor):
        return tensor.detach().numpy().astype(np.float32).copy()

    bn = None
    if block.bn is not None:
        bn = network.BatchNorm(
            numpy(block.bn.weight),
            numpy(block.bn.bias),
            numpy(block.bn.running_mean),
            numpy(block.bn.running_var),
            block.bn.eps,
        )
    return dataclasses.replace(
        layer,
        weight=np.ascontiguousarray(numpy(block.weight).transpose(0, 2, 3, 1)),
        bias=None if block.bias is None else numpy(block.bias),
        bn=bn,
    )


def _pad(t, x, pads, value):
    top, bottom, left, right = pads
    return t.nn.functional.pad(x, (left, right, top, bottom), value=value) if any(pads) else x


def _plain(t, layer, inputs):
    x = inputs[0]
    if layer.kind == "add":
        return x + inputs[1]
    if layer.kind == "globalpool":
        return x.mean((2, 3), keepdim=True)
    if layer.kind == "pad":
        return _pad(t, x, layer.pads, 0.0)
    if layer.kind == "maxpool":
        x = _pad(t, x, layer.pads, float("-inf"))
        return t.nn.functional.max_pool2d(x, layer.kernel, layer.stride)
    inside = _pad(t, t.ones_like(x), layer.pads, 0.0)
    x = _pad(t, x, layer.pads, 0.0)
    pool = t.nn.functional.avg_pool2d
    return pool(x, layer.kernel, layer.stride) / pool(inside, layer.kernel, layer.stride)
