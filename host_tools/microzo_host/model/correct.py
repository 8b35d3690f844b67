"""Biases that make up for what rounding weights and activations shifts on average.

A mean over positions averages random errors away and keeps the systematic ones, which are a
channel's mean error on the calibration samples. (Source: bias correction as in Nagel et al.,
2019, empirical form.)
"""

import dataclasses

import numpy as np

from ..reference import batch
from . import file as modelfile
from . import network

SAMPLES = 64


def biases(model, net, raw, real):
    """Correct the biases of a model that quantize.build() made of the folded ``net``, in place.

    ``raw``: uint8 samples, ``real``: what they stand for.
    """
    raw, real = raw[:SAMPLES], real[:SAMPLES]
    floats = network.forward(net, real)
    tensors = {model.in_tensor: model.table[raw]}
    for op, layer in zip(model.ops, net.layers, strict=True):
        x = tensors[op.in1]
        if op.kind in modelfile.WEIGHTED:
            plain = dataclasses.replace(layer, activation="none")
            exact = network.apply(plain, floats[layer.inputs[0]]).reshape(-1, op.out_c)
            acc = batch.accumulators(op, x).reshape(-1, op.out_c)
            effective = np.ldexp(op.mults.astype(np.float64), op.shifts.astype(int) - 31)
            unit = effective * model.scales[op.out]
            missing = exact.mean(0, dtype=np.float64) / np.maximum(unit, 1e-30) - acc.mean(0)
            missing[op.mults == 0] = 0
            op.bias = (op.bias + np.rint(np.clip(missing, -(1 << 20), 1 << 20))).astype(np.int32)
        tensors[op.out] = batch.run_op(op, x, tensors.get(op.in2))
