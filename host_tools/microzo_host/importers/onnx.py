"""Import of float and QDQ ONNX models: converted to a ``network.Network``, then quantized."""

import numpy as np

from ..model import file as modelfile
from ..model import network, quantize, ranges
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
    needs = [i for i in _ranged(net) if i not in imported.ranges]
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
    chosen = _chosen(net, real, given, needs, method)
    model = quantize.build(net, chosen, imported.weight_scales, table)
    notes = [f"{kind} at the end is left out: the loss takes logits" for kind in imported.dropped]
    problems = Problems(path)
    finish.limits(model, problems)
    problems.raise_if_any()
    if real is not None:
        raw = finish.samples(model, calib, model.scales[0])
        quantize.store_statistics(model, raw)
        notes += _weak_layers(model, net, raw[:CHECKED])
    model.metadata = finish.metadata(model, "onnx", notes, task="classification")
    modelfile.check(model, path)
    return model


def _ranged(net):
    """Tensors with a range of their own: pools and pads keep their source's."""
    kept = (*network.POOLS, "pad")
    return [0] + [i + 1 for i, layer in enumerate(net.layers) if layer.kind not in kept]


def _chosen(net, real, given, needs, method):
    """(scale, zero point) of every tensor: the file's where it has them, else by ``method``."""
    if needs and real is not None:
        ends = ranges.choose(net, real, method)
        given = {i: ranges.quantization(*ends[i]) for i in needs} | given
    result = [given[0]]
    for i, layer in enumerate(net.layers):
        own = layer.kind not in (*network.POOLS, "pad")
        result.append(given[i + 1] if own else result[layer.inputs[0]])
    return result


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
    if calib.shape[1:] == imported.file_shape:
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
