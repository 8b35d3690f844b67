"""The end of a network as training wants it: a dense layer with one logit a class."""

import numpy as np

from microzo.net import words as L

from ..model import file as modelfile


def dense(op):
    """Make the last operator a DENSE, bit for bit the same, if it sees its whole input at once.

    Networks such as MobileNetV1 end in a 1x1 convolution of a pooled map; `head` and `tail`
    train a DENSE.
    """
    whole = (op.k_h, op.k_w) == (op.in_h, op.in_w) and not any((op.p_t, op.p_b, op.p_l, op.p_r))
    if op.kind != L.CONV or not whole or (op.out_h, op.out_w) != (1, 1):
        return
    op.kind, op.in_c = L.DENSE, op.row
    op.weight = np.ascontiguousarray(op.weight.reshape(op.out_c, 1, 1, -1))
    op.in_h = op.in_w = op.k_h = op.k_w = op.s_h = op.s_w = op.dil_h = op.dil_w = 1


def two_classes(model):
    """Turn one output z, read by a sigmoid, into the logits 0 and z of the classes 0 and 1.

    softmax(0, z) is (1 - sigmoid(z), sigmoid(z)), so loss and training are those of a sigmoid.
    The int8 output of class 1 is the file's; that of class 0 is the zero point.
    """
    op = model.ops[-1]
    if op.kind != L.DENSE or (op.act_min, op.act_max) != (-128, 127):
        op = _copy(model)
    op.weight = np.concatenate([np.zeros_like(op.weight), op.weight])
    op.bias = np.concatenate([np.zeros(1, np.int32), op.bias])
    op.mults, op.shifts = np.repeat(op.mults, 2), np.repeat(op.shifts, 2)
    op.out_c = model.classes = 2


def _copy(model):
    """Append a DENSE of one weight that puts out what it reads."""
    before = model.ops[-1]
    op = modelfile.Op("sigmoid", L.DENSE, tid=len(model.ops), in1=before.out, out=model.n_tensors)
    op.in_zp = op.out_zp = before.out_zp
    op.weight = np.full((1, 1, 1, 1), 64, np.int8)
    op.bias = np.zeros(1, np.int32)
    op.mults, op.shifts = np.array([1 << 30], np.int32), np.array([-5], np.int8)
    model.ops.append(op)
    model.scales.append(model.scales[before.out])
    model.n_tensors, model.out_tensor = model.n_tensors + 1, op.out
    return op
