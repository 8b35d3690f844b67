"""What an imported model needs beyond its arithmetic: names, limits, logits, statistics."""

import json

import numpy as np

from microzo.net import words as L

from ..model import encode, quantize
from ..model import file as modelfile
from ..reference.requant import multiplier

TWO_CLASSES = "labels are 0 and 1, its input is the logit of class 1"
SEVERAL_LABELS = "microzo trains one class a sample, not several labels"
ONE_OUTPUT = (
    "it has one output and no sigmoid: evaluation and training need classes; for two classes "
    "end it with a sigmoid, labels 0 and 1"
)
FROZEN = (
    "layer {!r} has {} inputs, too many for 32-bit sums of any weights: it runs exactly but is "
    "not trained; a pooling layer before it would let it be"
)
INEXACT = (
    "layer {!r} has scales that no 31-bit multiplier fits: at {} of the sums it can reach its "
    "output is 1 off LiteRT's"
)
NO_STATISTICS = "realign is not available: no calibration samples were given"


def training_sizes(op):
    """Perturbation sizes, bias limit and fraction bits before statistics are known.

    An accumulator is taken to span the int8 output range twice.
    """
    op.eps_w, op.eps_b = quantize.perturbation(op)
    steps = np.ldexp(np.maximum(op.mults, 1).astype(np.float64), op.shifts.astype(int) - 31)
    span = np.minimum(256 / steps, modelfile.LIMIT / 8).astype(np.int64)
    quantize.limit_bias(op, np.stack([np.zeros(op.out_c, np.int64), 2 * span]))


def limits(model, problems):
    """training_sizes() of all layers with weights; what may overflow is noted."""
    for op in model.ops:
        if op.kind in modelfile.WEIGHTED:
            try:
                training_sizes(op)
            except ValueError as error:
                problems.add(error)


def logits(model, effective, emit, beta):
    """Make the logits (Q12 nats): from the last accumulators if ``emit``, else from int8.

    ``effective``: s_x * s_w of the last operator, one value or one a channel.
    """
    op = model.ops[-1]
    if emit:
        op.flags |= L.EMIT_LOGITS
        pairs = [multiplier(float(s) * beta * quantize.NATS) for s in effective]
        op.lmults = np.array([m for m, _ in pairs], np.int32)
        op.lshifts = np.array([s for _, s in pairs], np.int8)
    else:
        scale = model.scales[model.out_tensor]
        model.logit_mult, model.logit_shift = multiplier(scale * beta * quantize.NATS)


def samples(model, calib):
    """Calibration samples as the raw uint8 that the input table takes.

    uint8: raw already. int8: quantized input values. Floats: real input values.
    """
    calib = np.asarray(calib)
    if calib.dtype.kind != "f" and calib.dtype not in (np.uint8, np.int8):
        raise ValueError(f"calibration samples are {calib.dtype}: give uint8, int8 or floats")
    return encode.encode(model, calib, "calibration samples").raw


def names(model, wanted):
    """Give every operator a short name of its own."""
    used = set()
    for op, name in zip(model.ops, wanted):
        base, number = name or modelfile.KIND_NAMES[op.kind], 2
        name = base
        while name in used:
            name, number = f"{base}_{number}", number + 1
        used.add(name)
        op.name = name


def metadata(model, source, notes, foreign=None, **more):
    """The importer's keys of a model file's metadata.

    ``foreign``: (shape of a sample in the file, order of ours among its values).
    """
    entries = {"input": encode.described(model), **more}
    if foreign is not None:
        shape, order = foreign
        axes = encode.axes(order, (model.in_h, model.in_w, model.in_c), shape)
        if axes is not None:
            entries["input"] |= {"file_shape": list(shape), "file_axes": axes}
    return {"source": source, "notes": json.dumps(notes)} | {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in entries.items()
    }


def notes(model):
    """What a user should know of an imported model, a list of sentences."""
    found = json.loads(model.metadata.get("notes", "[]"))
    if all(op.stats is None for op in model.ops):
        found.append(NO_STATISTICS)
    return found
