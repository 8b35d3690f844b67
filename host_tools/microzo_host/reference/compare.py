"""Layer by layer against the source of a model: LiteRT's reference kernels, or the float network.

For a .tflite file every int8 value is compared, for a float network the signal
to noise ratio shows where accuracy goes.
"""

import dataclasses
import json
import math

import numpy as np

from microzo.net import words as L

from .. import extras
from ..importers import ends, finish, tflite_file, tflite_fold
from ..model import network
from . import layerwise

EXACT = 120.0  # dB: more is called exact


@dataclasses.dataclass
class Row:
    """One layer. ``differing`` and ``largest`` (LSB) against TFLite, ``snr`` (dB) against floats.

    ``saturated``: percent of the values at an end of the int8 range.
    """

    name: str
    kind: str
    shape: tuple
    values: int
    saturated: float
    differing: int = None
    largest: int = None
    snr: float = None


def compare(model, reference, x, kernels=None):
    """Rows of a model against ``reference``, a .tflite path or a ``network.Network``.

    ``x``: samples (N, h, w, c), uint8 raw, int8 or floats. ``kernels``: a module with
    the native API, the C kernels if it is left out.
    """
    raw = finish.samples(model, x)
    runner = layerwise.Runner(model, kernels)
    if isinstance(reference, network.Network):
        return _against_float(model, reference, raw, runner)
    return _against_tflite(model, reference, raw, runner)


def _against_tflite(model, path, raw, runner):
    try:
        listed = json.loads(model.metadata.get("tensors", "[]"))
        numbers = [n if n is None else int(n) for n in listed]
    except (ValueError, TypeError, RecursionError):
        numbers = []
    if len(numbers) != len(model.ops):
        raise ValueError(f"the model was not imported from {path}: import it again")
    reference = Reference(path, model)
    sums = [[0, 0, 0] for _ in model.ops]
    for sample in raw:
        outputs, _ = runner.run(sample)
        reference.run(sample)
        for i, (out, number) in enumerate(zip(outputs, numbers, strict=True)):
            sums[i][2] += _saturated(model.ops[i], out)
            if number is None:  # a part of what one TFLite operator does
                continue
            exact = reference.tensor(number)
            # Of two classes made of one sigmoid the file has the second alone.
            difference = np.abs(out.reshape(-1)[-len(exact) :].astype(int) - exact)
            sums[i][0] += int((difference > 0).sum())
            sums[i][1] = max(sums[i][1], int(difference.max()))
    rows = []
    for op, (differing, largest, saturated) in zip(model.ops, sums):
        row = _row(op, len(raw), saturated)
        row.differing, row.largest = differing, largest
        rows.append(row)
    return rows


def _against_float(model, net, raw, runner):
    net = net.fold()
    number = {layer.name: i + 1 for i, layer in enumerate(net.layers)}
    if not set(number) <= {op.name for op in model.ops}:
        raise ValueError(f"the network has {len(net.layers)} layers, the model {len(model.ops)}: "
                         f"compare a model with the network that it was made from")  # fmt: skip
    scale = model.scales[model.in_tensor]
    real = (model.table[raw].astype(np.float32) - model.in_zp) * np.float32(scale)
    sums = [[0.0, 0.0, 0] for _ in model.ops]
    for sample, values in zip(raw, real):
        outputs, _ = runner.run(sample)
        floats = network.forward(net, values[None])
        at = {model.in_tensor: 0}  # which float tensor each of the model's stands for
        for i, (op, out) in enumerate(zip(model.ops, outputs)):
            # An operator that the network has not changes the scale only.
            at[op.out] = number.get(op.name, at[op.in1])
            found = (out.astype(np.float64) - op.out_zp) * model.scales[op.out]
            exact = floats[at[op.out]].reshape(found.shape).astype(np.float64)
            sums[i][0] += float((exact**2).sum())
            sums[i][1] += float(((exact - found) ** 2).sum())
            sums[i][2] += _saturated(op, out)
    rows = []
    for op, (signal, noise, saturated) in zip(model.ops, sums):
        row = _row(op, len(raw), saturated)
        row.snr = min(EXACT, 10 * math.log10(signal / noise)) if signal and noise else EXACT
        rows.append(row)
    return rows


def _row(op, count, saturated):
    shape = op.out_h, op.out_w, op.out_c
    values = count * math.prod(shape)
    kind = L.KIND_NAMES[op.kind]
    return Row(op.name, kind, shape, values, 100 * saturated / values)


def _saturated(op, out):
    """Values at an end of the int8 range that is not the zero of a ReLU."""
    low = (out == -128).sum() if op.out_zp != -128 else 0
    return int(low + (out == 127).sum())


class Reference:
    """LiteRT with its reference kernels, every tensor kept."""

    def __init__(self, path, model):
        try:
            from ai_edge_litert.interpreter import Interpreter, OpResolverType
        except ImportError:
            raise extras.missing("comparing with TFLite needs LiteRT", "models") from None
        graph = tflite_file.read(path)
        tflite_fold.fold(graph)
        core = ends.find(graph)
        self.model, self.order = model, core.order
        try:
            self.interpreter = Interpreter(
                model_path=str(path),
                experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
                experimental_preserve_all_tensors=True,
                num_threads=1,
            )
            self.interpreter.allocate_tensors()
        except (RuntimeError, ValueError) as error:
            what = " ".join(str(error).split())[:120]
            raise ValueError(f"LiteRT does not run {path} ({what}): convert it again") from None
        self.source = self.interpreter.get_input_details()[0]

    def run(self, raw):
        """One raw uint8 sample in our order."""
        values = self.model.table[raw.reshape(-1)]
        dtype = self.source["dtype"]
        if dtype == np.float32:
            scale = self.model.scales[self.model.in_tensor]
            values = (values.astype(np.float32) - self.model.in_zp) * np.float32(scale)
        elif dtype == np.uint8:
            values = raw.reshape(-1)
        if self.order is not None:
            theirs = np.empty_like(values)
            theirs[self.order] = values
            values = theirs
        self.interpreter.set_tensor(self.source["index"], values.reshape(self.source["shape"]))
        self.interpreter.invoke()

    def tensor(self, number):
        """A tensor of the last run, flat, as Python-sized integers."""
        return self.interpreter.get_tensor(number).reshape(-1).astype(int)
