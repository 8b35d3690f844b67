"""CONV_2D, also in groups: depthwise where each group is a channel, else a convolution a group."""

import numpy as np

from microzo.net import words as L

from ..model import network
from . import weighted
from .lowering import hwc
from .problems import Unsupported

MOST = 64  # groups; each takes three operators


def convolution(lowering, node):
    """CONV_2D; the pads of a PAD before it are taken over."""
    weight = lowering.tensor(node.inputs[1])
    shape = weighted.image(lowering, node.inputs[0])
    if len(weight.shape) != 4:
        raise Unsupported(f"has weights of shape {weight.shape} (use a 2-D convolution)")
    if weight.shape[3] != shape[2]:
        _in_groups(lowering, node, shape, weight.shape)
        return
    weighted.windowed(lowering, node, L.CONV, shape, weight.shape[1:3], weight.shape[0], 0)


def _in_groups(lowering, node, shape, weight_shape):
    """A convolution whose weights read ``weight_shape[3]`` of the channels of ``shape``."""
    out_c, inside = weight_shape[0], weight_shape[3]
    groups = shape[2] // inside
    if shape[2] % inside or out_c % groups:
        raise Unsupported(f"has weights {weight_shape} for {shape[2]} channels (convert it again)")
    if inside == 1:
        weighted.windowed(
            lowering, node, L.DWCONV, shape, weight_shape[1:3], out_c, 0, order=(0, 1, 2, 3)
        )
        return
    if groups > MOST:
        raise Unsupported(f"has {groups} groups of {inside} (use {MOST} at most, or depthwise)")
    _split(lowering, node, shape, groups, inside)


def _split(lowering, node, shape, groups, inside):
    """Cut the channels, convolve each part, join what comes out.

    Channels lie side by side, so that a part of them is cut, and put together, as columns of
    an image of one channel.
    """
    source, out = node.inputs[0], node.outputs[0]
    view = lowering.plain(source)
    if any(view.pads):
        raise Unsupported("is grouped and pads by a layer of its own (use padding='same')")
    h, w, c = shape
    kernel = lowering.tensor(node.inputs[1]).shape[1:3]
    stride, pads, dilation = weighted.window(lowering, node, kernel)
    out_h, out_w = network.conv_size((h, w), kernel, stride, pads, dilation)
    out_c = hwc(lowering.tensor(out))[2]
    weighted.check_size(lowering, node, (out_h, out_w, out_c))
    values = weighted.weights(lowering, node, 0)
    each, parts = out_c // groups, []
    for i in range(groups):
        before, after = i * inside, c - (i + 1) * inside
        cut = lowering.emit_part(source, source, L.PAD, (h * w, c, 1), (h * w, inside, 1))
        cut.p_l, cut.p_r = -before, -after
        op = lowering.emit_part(cut, out, L.CONV, (h, w, inside), (out_h, out_w, each))
        weighted.place(op, kernel, stride, pads, dilation)
        op.weight = np.ascontiguousarray(values[i * each : (i + 1) * each])
        weighted.parameters(lowering, node, op, slice(i * each, (i + 1) * each))
        parts.append(op)
    lowering.join(node, parts, (out_h, out_w, each))
