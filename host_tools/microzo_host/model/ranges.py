"""Ranges of activations from calibration samples: what int8 values stand for.

``mse`` looks for the range with the least squared error of the quantized
values; ``percentile`` takes the mean of each batch's percentiles. Both go
through the samples in batches, so that memory does not grow with them. Sums
are rounded once (``fsum``) or have a fixed order: a range is the same on every machine.
"""

import dataclasses
import math

import numpy as np

from . import network

BATCH = 32
BINS = 2048
PERCENTILE = 99.99
SHRINKS = np.linspace(0.3, 1.0, 71)


def choose(net, real, method="mse"):
    """[(low, high)] of every tensor of a folded network for real inputs (N, h, w, c)."""
    if method == "percentile":
        return _percentiles(net, real)
    if method == "mse":
        return _least_squares(net, real)
    raise ValueError(f"ranges are chosen by 'mse' or 'percentile', not by {method!r}")


def quantization(low, high):
    """(scale, zero point) of a range, which is made to contain 0."""
    low, high = min(0.0, float(low)), max(0.0, float(high))
    scale = float(np.float32(max(high - low, 1e-6) / 255))
    return scale, int(np.clip(round(-128 - low / scale), -128, 127))


def ties(net):
    """For every tensor the first of those that have its range: pools and pads keep their
    source's, what is joined shares one."""
    first = list(range(len(net.layers) + 1))

    def root(t):
        while first[t] != t:
            t = first[t]
        return t

    for i, layer in enumerate(net.layers):
        if layer.kind in network.KEPT or layer.kind == "concat":
            for t in layer.inputs:
                a, b = sorted((root(t), root(i + 1)))
                first[b] = a
    return [root(t) for t in range(len(first))]


def untied(net, given):
    """(network, ranges, new numbers of tensors) in which what is joined may share a range.

    Where operands of a concatenation have ranges of their own (those of the file, or that of
    the input), layers of the identity bring them to that of the result.
    """
    first = ties(net)
    layers, number, ranges = [], {0: 0}, {t: r for t, r in given.items() if t == 0}

    def own(t):
        return next((given[u] for u in (t, first[t]) if u in given), None)

    for i, layer in enumerate(net.layers):
        inputs = [number[t] for t in layer.inputs]
        target = given.get(i + 1)
        for k, t in enumerate(layer.inputs if layer.kind == "concat" else ()):
            apart = first[t] == 0 or target is not None and own(t) not in (None, target)
            if apart and own(t) != target:
                name = f"{layer.name}.{k}"
                layers.append(network.Layer("function", name, (inputs[k],), function=_same))
                inputs[k] = len(layers)
                if target is not None:
                    ranges[len(layers)] = target
        layers.append(dataclasses.replace(layer, inputs=tuple(inputs)))
        number[i + 1] = len(layers)
        if target is not None:
            ranges[len(layers)] = target
    return network.Network(net.input_shape, layers, net.name), ranges, number


def _same(x):
    return x


def missing(net, given):
    """Tensors, one of each that are tied, whose range is not ``given``."""
    first = ties(net)
    known = {first[t] for t in given}
    return [t for t in sorted(set(first)) if t not in known]


def all_of(net, real, given, method):
    """[(scale, zero point)] of every tensor: ``given`` where it is there, else by ``method``."""
    first = ties(net)
    known = {}
    for t in sorted(given):
        known.setdefault(first[t], given[t])
    if real is not None and any(t not in known for t in first):
        ends = choose(net, real, method)
        for t in set(first) - set(known):
            low = min(ends[i][0] for i, f in enumerate(first) if f == t)
            high = max(ends[i][1] for i, f in enumerate(first) if f == t)
            known[t] = quantization(low, high)
    return [known[t] for t in first]


def _batches(net, real):
    for start in range(0, len(real), BATCH):
        yield network.forward(net, real[start : start + BATCH])


def _percentiles(net, real):
    sums, count = 0.0, 0
    for tensors in _batches(net, real):
        ends = [np.percentile(t, (100 - PERCENTILE, PERCENTILE)) for t in tensors]
        sums, count = sums + np.array(ends), count + 1
    return [tuple(map(float, pair)) for pair in sums / count]


def _least_squares(net, real):
    ends = None
    for tensors in _batches(net, real):
        batch = np.array([(t.min(), t.max()) for t in tensors], np.float64)
        if ends is None:
            ends = batch
        ends[:, 0] = np.minimum(ends[:, 0], batch[:, 0])
        ends[:, 1] = np.maximum(ends[:, 1], batch[:, 1])
    ends[:, 0], ends[:, 1] = np.minimum(ends[:, 0], 0), np.maximum(ends[:, 1], 1e-6)
    counts = np.zeros((len(ends), BINS))
    for tensors in _batches(net, real):
        for i, t in enumerate(tensors):
            counts[i] += np.histogram(t, BINS, tuple(ends[i]))[0]
    return [_best(counts[i], *ends[i]) for i in range(len(ends))]


def _best(counts, low, high):
    """The part of (low, high) with the least squared error over a histogram."""
    width = (high - low) / BINS
    middles = low + (np.arange(BINS) + 0.5) * width
    used = np.flatnonzero(counts)
    middles, counts = middles[used], counts[used]
    lows = low * SHRINKS if low < 0 else [0.0]
    candidates = [(a, b) for a in lows for b in high * SHRINKS]
    if low < 0:
        # Both ends together, then each alone: 71 + 2 * 71 instead of 71 * 71.
        candidates = list(zip(low * SHRINKS, high * SHRINKS))
        a, b = min(candidates, key=lambda ends: _error(middles, counts, *ends))
        candidates = [(a, x) for x in high * SHRINKS] + [(x, b) for x in low * SHRINKS] + [(a, b)]
    return min(candidates, key=lambda ends: _error(middles, counts, *ends))


def _error(values, counts, low, high):
    scale, zero_point = quantization(low, high)
    quantized = np.clip(np.rint(values / scale) + zero_point, -128, 127)
    error = values - (quantized - zero_point) * scale
    return math.fsum((counts * (error * error)).tolist())
