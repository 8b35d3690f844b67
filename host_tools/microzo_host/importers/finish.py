"""What an imported model needs beyond its arithmetic: names, limits, logits, statistics."""

import json

import numpy as np

from microzo.net import words as L

from ..model import file as modelfile
from ..model import quantize
from ..reference.requant import multiplier

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


def samples(model, calib, scale):
    """Calibration samples as the raw uint8 that the input table takes.

    uint8: raw already. int8: quantized input values. Floats: real input values.
    """
    calib = np.asarray(calib)
    shape = (model.in_h, model.in_w, model.in_c)
    if calib.ndim and not len(calib):
        raise ValueError("there are no calibration samples: give some hundreds")
    if calib.ndim < 1 or calib[:1].size != np.prod(shape):
        raise ValueError(
            f"calibration samples have shape {calib.shape[1:]}, the model takes {shape}: "
            f"give an array (number, {', '.join(map(str, shape))})"
        )
    if calib.dtype.kind == "f":
        if not np.isfinite(calib).all():
            raise ValueError("calibration samples are not all finite numbers")
        calib = np.clip(np.rint(calib / scale) + model.in_zp, -128, 127).astype(np.int8)
    if calib.dtype == np.int8:
        calib = raw_samples(model.table, calib)
    if calib.dtype != np.uint8:
        raise ValueError(f"calibration samples are {calib.dtype}: give uint8, int8 or floats")
    return calib.reshape(-1, *shape)


def raw_samples(table, values):
    """uint8 samples that the table maps to the int8 ``values``, or to the nearest that it has."""
    wanted = np.arange(-128, 128)
    distance = np.abs(table.astype(np.int64)[None, :] - wanted[:, None])
    return distance.argmin(1).astype(np.uint8)[values.astype(np.int64) + 128]


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


def metadata(model, source, notes, **more):
    """The importer's keys of a model file's metadata."""
    scale = model.scales[model.in_tensor]
    entries = {"input": {"scale": scale, "zero_point": model.in_zp, "order": "h w c"}, **more}
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
