"""Import of float and QDQ ONNX models: converted to a ``network.Network``, then quantized."""

import numpy as np

from ..model import correct, quantize, ranges
from ..model import file as modelfile
from ..reference import compare
from . import finish
from .onnx_network import import_network
from .problems import Problems

CHECKED, WEAK = 16, 10.0  # samples of the check at import, and dB below which a layer is named


def import_onnx(path, calib=None, method="mse", input_range=(0.0, 1.0)):
    """Read and quantize an ONNX file; returns the ``modelfile.Model``.

    ``calib``: clean samples as the file's network takes them (N, c, h, w) or (N, h, w, c),
    floats, or uint8 whose 0 and 255 stand for the ends of ``input_range``. ``method``: how
    ranges are chosen, see ranges.choose(). A QDQ file brings ranges and needs no samples.
    """
    imported = import_network(path)
    net = imported.net.fold()
    needs = ranges.missing(net, imported.ranges)
    if calib is None and needs:
        raise ValueError(f"{path} holds floats: give some hundred clean samples to calibrate it")
    real, given, table = None, dict(imported.ranges), (np.arange(256) - 128).astype(np.int8)
    if calib is not None:
        calib = _ours(imported, np.asarray(calib), path)
        real = calib
        if calib.dtype == np.uint8:
            low, high = input_range
            real = (low + calib * np.float32((high - low) / 255)).astype(np.float32)
            given.setdefault(0, ranges.quantization(low, high))
            table = _table(low, high, *given[0])
    net, given, number = ranges.untied(net, given)
    scales = {number[i + 1] - 1: s for i, s in imported.weight_scales.items()}
    chosen = ranges.all_of(net, real, given, method)
    model = quantize.build(net, chosen, scales, table)
    notes = [_instead(model, kind) for kind in imported.dropped]
    if model.classes == 1:
        notes.append(finish.ONE_OUTPUT)
    if real is not None:
        model.metadata = finish.metadata(model, "onnx", notes, _foreign(imported))
        raw = finish.samples(model, calib)
        if not imported.ranges:
            correct.biases(model, net, raw, real)
    problems = Problems(path)
    finish.limits(model, problems)
    problems.raise_if_any()
    notes += [finish.FROZEN.format(op.name, op.row) for op in model.ops if op.abs_sum]
    if real is not None:
        quantize.store_statistics(model, raw)
        notes += _weak_layers(model, net, raw[:CHECKED])
    model.metadata = finish.metadata(
        model, "onnx", notes, _foreign(imported), task="classification"
    )
    modelfile.check(model, path)
    return model


def _instead(model, kind):
    """What takes the place of a classifier that is left out."""
    if kind != "Sigmoid":
        return f"{kind} at the end is left out: the loss takes logits"
    if model.classes == 2 and not model.ops[-1].weight[0].any():
        return f"{kind} at the end is left out: {finish.TWO_CLASSES}"
    return f"{kind} at the end is left out: {finish.SEVERAL_LABELS}"


def _foreign(imported):
    """(shape of a sample of the file, which of its values each of ours is)"""
    order = np.empty(len(imported.order), np.int64)
    order[imported.order] = np.arange(len(order))
    return imported.file_shape, order


def _sides(shape):
    """A shape without its axes of one value."""
    return tuple(n for n in shape if n > 1)


def _ours(imported, calib, path):
    """Calibration samples as (N, h, w, c), from the file's order or ours."""
    shape = imported.net.input_shape
    if calib.dtype != np.uint8:
        calib = calib.astype(np.float32)
    if calib.ndim < 2 or not len(calib) or calib[0].size != len(imported.order):
        raise ValueError(
            f"calibration samples have shape {calib.shape}, {path} takes {imported.file_shape}: "
            f"give an array (number, ...)"
        )
    if _sides(calib.shape[1:]) == _sides(imported.file_shape):
        ours = np.empty((len(calib), len(imported.order)), calib.dtype)
        ours[:, imported.order] = calib.reshape(len(calib), -1)
        return ours.reshape(-1, *shape)
    if calib.shape[1:] != shape and calib.ndim > 2 + (shape[2] == 1):
        raise ValueError(
            f"calibration samples are {calib.shape[1:]}: give {imported.file_shape} or {shape}"
        )
    return calib.reshape(-1, *shape)


def _table(low, high, scale, zero_point):
    """int8 input of every raw sample value."""
    real = low + np.arange(256) * (high - low) / 255
    return np.clip(np.rint(real / scale) + zero_point, -128, 127).astype(np.int8)


def _weak_layers(model, net, raw):
    """Notes on layers whose int8 values keep little of the float ones."""
    rows = compare.compare(model, net, raw)
    return [
        f"layer {row.name!r} keeps only {row.snr:.0f} dB of its float values: look at it with "
        f"`microzo compare`"
        for row in rows
        if row.snr < WEAK
    ]
