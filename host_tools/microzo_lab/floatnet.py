"""A float network from a quantized model, with BatchNorm put back, for the yardsticks.

An imported int8 file has its BatchNorm folded. Here every convolution gets one whose statistics
are those of the clean images (which the model file holds) and which changes nothing at first:
gamma = deviation, beta = mean. Batch statistics can then be adapted as in a network that kept it.
"""

import numpy as np

from microzo.net import words as L
from microzo_host.data import demonet
from microzo_host.model import file as modelfile
from microzo_host.model import network
from microzo_host.simulation import networks

_KINDS = {
    L.CONV: "conv", L.DWCONV: "depthwise", L.DENSE: "dense", L.AVGPOOL: "avgpool", L.ADD: "add",
}  # fmt: skip
_NATS = 4096


def of_data(data):
    """The float network (with BatchNorm) of a data set that back-propagation starts from, or
    None."""
    if data not in networks.FILES:
        return demonet.pretrained(data)
    if data != "cifar10":
        return None
    return of_model(modelfile.unpack(networks.model_bytes(data)), data)


def of_model(model, name):
    """network.Network of a modelfile.Model: input_zp -128, kinds of _KINDS, logits emitted.

    ValueError for others. Its input is the raw sample / 255.
    """
    if model.in_zp != -128 or not model.ops[-1].flags & L.EMIT_LOGITS:
        raise ValueError(f"{name}: only models with input zero point -128 that emit logits")
    number, scales = {model.in_tensor: 0}, list(model.scales)
    scales[model.in_tensor] = 1 / 255
    layers = []
    for op in model.ops:
        if op.kind not in _KINDS:
            raise ValueError(f"{name}: no float form of layer {op.name!r}")
        layers.append(_layer(op, number, scales))
        number[op.out] = len(layers)
    return network.Network((model.in_h, model.in_w, model.in_c), layers, name)


def _layer(op, number, scales):
    inputs = tuple(number[i] for i in (op.in1, op.in2) if i >= 0)
    layer = network.Layer(
        _KINDS[op.kind], op.name, inputs, stride=(op.s_h, op.s_w), kernel=(op.k_h, op.k_w),
        pads=(op.p_t, op.p_b, op.p_l, op.p_r),
        activation="relu" if op.act_min == op.out_zp and op.kind != L.DENSE else "none",
    )  # fmt: skip
    if op.kind not in modelfile.WEIGHTED:
        return layer
    last = op.lmults is not None
    mults, shifts = (op.lmults, op.lshifts) if last else (op.mults, op.shifts)
    unit = np.ldexp(mults.astype(float), shifts.astype(int) - 31)  # output of one accumulator step
    unit *= 1 / _NATS if last else scales[op.out]
    weight = op.weight.astype(float) * unit[:, None, None, None] / scales[op.in1]
    layer.weight, layer.bias = weight.astype(np.float32), (op.bias * unit).astype(np.float32)
    if op.kind != L.DENSE:
        mean, deviation = op.stats[0] * unit, np.maximum(op.stats[1], 1) / 16 * unit
        layer.bn = network.BatchNorm(
            np.sqrt(deviation**2 + 1e-5).astype(np.float32), mean.astype(np.float32),
            mean.astype(np.float32), (deviation**2).astype(np.float32),
        )  # fmt: skip
    return layer
