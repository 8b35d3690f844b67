"""A model on many images at once: the operators of ops.py with a batch axis.

For clean channel statistics, ranges and int8 accuracy, which need thousands of images.
"""

import numpy as np

from microzo.net import words as L

from ..model import file as modelfile
from . import ops


def accumulators(op, x):
    """int64 (N, OH, OW, O) of a weighted operator on int8 input (N, H, W, C)."""
    weights = op.weight.reshape(op.out_c, -1).astype(np.int64)
    acc = ops.accumulate(op, _input(op, x), weights, op.bias.astype(np.int64))
    return acc.reshape(-1, op.out_h, op.out_w, op.out_c)


def finish(op, acc):
    """int8 output of a weighted operator from its accumulators."""
    return ops.scaled(op, acc, op.mults, op.shifts)


def run_op(op, x, other=None):
    """int8 output of any operator for int8 inputs (N, H, W, C)."""
    if op.kind in modelfile.WEIGHTED:
        return finish(op, accumulators(op, x))
    out = ops.unweighted(op, _input(op, x), lambda: _second(op, other), lambda: op.weight)
    return out.astype(np.int8)


def logits(model, images, batch=500):
    """int64 (N, classes) in Q12 nats for uint8 images NxHxWxC."""
    parts = [_logits(model, images[i : i + batch]) for i in range(0, len(images), batch)]
    return np.concatenate(parts)


def predict(model, images):
    """Class numbers (N,) of uint8 images."""
    return logits(model, images).argmax(1)


def accuracy(model, images, labels):
    """Percent of images whose class is right."""
    return 100 * float((predict(model, images) == labels).mean())


def _logits(model, images):
    tensors = {model.in_tensor: model.table[images]}
    for op in model.ops:
        x = tensors[op.in1]
        if op.flags & L.EMIT_LOGITS:
            out = ops.logits_of(accumulators(op, x), op.lmults, op.lshifts)
            return out.reshape(len(images), -1)
        tensors[op.out] = run_op(op, x, tensors.get(op.in2))
    out = tensors[model.out_tensor].astype(np.int64) - model.ops[-1].out_zp
    return ops.logits_of(out, model.logit_mult, model.logit_shift).reshape(len(images), -1)


def _input(op, x):
    return x.reshape(-1, op.in_h, op.in_w, op.in_c)


def _second(op, other):
    """The second operand of ADD, MUL, CONCAT (N or 1, h, w, c), broadcast where it is spread."""
    values = op.weight if other is None else other
    if op.kind == L.CONCAT:
        sides = ((op.in_h, op.out_h), (op.in_w, op.out_w), (op.in_c, op.out_c))
        shape = [after - before or before for before, after in sides]
    else:
        shape = [1, 1] if op.flags & L.SPREAD_HW else [op.in_h, op.in_w]
        shape.append(1 if op.flags & L.SPREAD_C else op.in_c)
    return values.reshape(-1, *shape)
