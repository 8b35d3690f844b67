"""What a pass leaves in the arena, as arrays. Imported when one is asked for."""

from array import array
from math import exp

from . import arena as planner
from . import words as L


def output(model, op):
    if not 0 <= op < model.ops:
        raise ValueError("operator %s does not exist, choose 0..%d" % (op, model.ops - 1))
    o = L.op_base(op)
    at = model.plan[o + L.OUT_OFF]
    return array("b", bytes(memoryview(model.arena)[at : at + planner.out_size(model.plan, o)]))


def logits(model, out):
    at = model.plan[L.LOGITS_OFF]
    z = array("i", bytes(memoryview(model.arena)[at : at + 4 * model.classes]))
    if out is None:
        return z
    if len(out) != model.classes:
        raise ValueError("out has %d items, the model %d classes" % (len(out), model.classes))
    for c in range(model.classes):
        out[c] = z[c]
        if out[c] != z[c]:
            raise ValueError(
                "out does not hold %d, the logit of class %d: take array('i') or floats"
                % (z[c], c)
            )
    return out


def probabilities(model):
    z = logits(model, None)
    most = max(z)
    p = [exp((v - most) / 4096) for v in z]
    total = sum(p)
    p = [v / total for v in p]
    try:
        from ulab import numpy
    except ImportError:
        return array("f", p)
    return numpy.array(p)
