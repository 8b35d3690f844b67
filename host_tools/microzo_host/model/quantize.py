"""Post-training quantization of a float network to SPEC.md's integer model.

BatchNorm is folded; weights become int8 per output channel, symmetric;
activations int8 per tensor with ranges from calibration images; biases int32.
The statistics of every accumulator on the (clean) calibration images are
stored for realign, the covariance of the input's patches for refilter, with the
limits and perturbation sizes that training uses.
"""

import math

import numpy as np

from microzo.net import words as L

from ..reference import batch
from ..reference.requant import multiplier
from . import file as modelfile
from . import network, patches

PERCENTILE = 99.99  # of a tensor's calibration values; the rest saturates
INPUT_SCALE, INPUT_ZP = 1 / 255, -128  # raw sample 0..255 is real 0..1
NATS = 1 << 12  # logits are Q12
KINDS = {
    "conv": L.CONV, "depthwise": L.DWCONV, "dense": L.DENSE,
    "avgpool": L.AVGPOOL, "globalpool": L.AVGPOOL,
    "maxpool": L.MAXPOOL, "add": L.ADD, "pad": L.PAD,
}  # fmt: skip


def quantize(net, calib_x, percentile=PERCENTILE, metadata=None):
    """Return the ``modelfile.Model`` of a ``network.Network``.

    ``calib_x``: uint8 NxHxWxC clean images, some hundreds, none of the test
    set. ``metadata``: extra str-to-str entries for the file.
    """
    calib_x = np.asarray(calib_x)
    if calib_x.dtype != np.uint8 or calib_x.shape[1:] != tuple(net.input_shape):
        raise ValueError(
            f"calibration images are {calib_x.dtype} {calib_x.shape[1:]}: "
            f"network {net.name!r} takes uint8 {tuple(net.input_shape)}"
        )
    if not len(calib_x):
        raise ValueError("there are no calibration images: give some hundreds")
    net = net.fold()
    for layer in net.layers:
        parts = (layer.weight, layer.bias) if layer.kind in network.WEIGHTED else ()
        if not all(np.isfinite(part).all() for part in parts):
            raise ValueError(
                f"layer {layer.name!r} has weights that are no numbers: train it again"
            )
    model = build(net, _activation_ranges(net, calib_x, percentile))
    model.metadata = dict(metadata or {}, name=net.name)
    store_statistics(model, calib_x)
    modelfile.check(model, net.name)
    return model


def build(net, ranges, weight_scales=None, table=None):
    """The Model of a folded network for given ranges, without statistics and limits.

    ``ranges``: (scale, zero point) of every tensor. ``weight_scales``: by layer number, where
    they are given. ``table``: raw sample to int8 input.
    """
    given = weight_scales or {}
    scales = {
        i: given.get(i, _weight_scales(layer, ranges))
        for i, layer in enumerate(net.layers)
        if layer.kind in network.WEIGHTED
    }
    ops = [_operator(net, i, ranges, scales.get(i)) for i in range(len(net.layers))]
    head = net.layers[-1]
    model = modelfile.Model(
        *net.input_shape,
        classes=net.shapes[-1][2],
        in_zp=ranges[0][1],
        table=(np.arange(256) - 128).astype(np.int8) if table is None else table,
        ops=ops,
        n_tensors=len(ops) + 1,
        out_tensor=len(ops),
        scales=[scale for scale, _ in ranges],
    )
    if head.kind in network.WEIGHTED and head.activation == "none":
        _emit_logits(ops[-1], ranges[head.inputs[0]][0], scales[len(ops) - 1])
    else:
        model.logit_mult, model.logit_shift = multiplier(ranges[-1][0] * NATS)
    return model


def channel_statistics(acc):
    """int32 (2, C): mean and deviation (Q4) of int64 accumulators (n, C), SPEC.md 1.9."""
    n, peak, s = len(acc), int(np.abs(acc).max(initial=1)), 0
    while (peak >> s) ** 2 * n >= 1 << 62:
        s += 1
    shifted = acc >> s
    out = []
    sums = shifted.sum(0).tolist(), (shifted**2).sum(0).tolist()
    for s1, s2 in zip(*sums, strict=True):
        q, r = divmod(s1, n)
        mean = ((2 * s1 + n) // (2 * n)) << s
        var = max(0, (s2 - 2 * q * r) // n - q * q)
        out.append((mean, min(math.isqrt(min(var, 1 << 54) << 8) << s, (1 << 31) - 1)))
    return np.array(out, np.int64).T.astype(np.int32)


def _activation_ranges(net, calib_x, percentile):
    """(scale, zero point) of every tensor; pools, pads and the input keep their source's."""
    tensors = network.forward(net, calib_x / np.float32(255))
    result = [(_f32(INPUT_SCALE), INPUT_ZP)]
    for layer, values in zip(net.layers, tensors[1:], strict=True):
        if layer.kind in network.POOLS or layer.kind == "pad":
            result.append(result[layer.inputs[0]])
            continue
        low = min(0.0, float(np.percentile(values, 100 - percentile)))
        high = max(0.0, float(np.percentile(values, percentile)))
        scale = _round_up(max(high - low, 1e-6) / 255)
        result.append((scale, int(np.clip(round(-128 - low / scale), -128, 127))))
    return result


def _operator(net, index, ranges, scales):
    layer = net.layers[index]
    shape, out_shape = net.shapes[layer.inputs[0]], net.shapes[index + 1]
    (in_scale, in_zp), (out_scale, out_zp) = ranges[layer.inputs[0]], ranges[index + 1]
    if layer.kind == "dense":
        shape = (1, 1, shape[0] * shape[1] * shape[2])
    op = modelfile.Op(
        layer.name, KINDS[layer.kind], tid=index, in1=layer.inputs[0], out=index + 1,
        in_zp=in_zp, out_zp=out_zp,
    )  # fmt: skip
    op.in_h, op.in_w, op.in_c = shape
    op.out_h, op.out_w, op.out_c = out_shape
    op.p_t, op.p_b, op.p_l, op.p_r = layer.pads
    op.act_min, op.act_max = _activation(layer, out_scale, out_zp)
    if layer.kind in network.WEIGHTED:
        if layer.kind != "dense":
            op.k_h, op.k_w = layer.weight.shape[1:3]
            op.s_h, op.s_w = layer.stride
        _quantize_weights(op, layer, in_scale, scales, out_scale)
    elif layer.kind == "globalpool":
        op.k_h, op.k_w = op.s_h, op.s_w = shape[:2]
    elif layer.kind in network.POOLS:
        (op.k_h, op.k_w), (op.s_h, op.s_w) = layer.kernel, layer.stride
    elif layer.kind == "add":
        _add_multipliers(op, layer, in_scale, ranges, out_scale)
    return op


def _activation(layer, scale, zero_point):
    """int8 clamp range that stands for the activation function."""
    low, high = network.ACTIVATIONS[layer.activation]
    clamp = [-128, 127]
    if low > -math.inf:
        clamp[0] = zero_point
    if high < math.inf:
        clamp[1] = min(127, zero_point + round(high / scale))
    return clamp


def _weight_scales(layer, ranges):
    """float64 (O,): max |w| / 127, raised where the bias would dwarf the weights."""
    in_scale, in_zp = ranges[layer.inputs[0]]
    peaks = np.abs(layer.weight.astype(np.float64)).max(axis=(1, 2, 3)) / 127
    reach = max(127 - in_zp, in_zp + 128) * layer.weight[0].size
    floor = np.abs(layer.bias.astype(np.float64)) / (in_scale * 127 * reach)
    scales = np.maximum(peaks, floor)
    scales[scales == 0] = max(scales.max(), 1e-6)
    return scales.astype(np.float32).astype(np.float64)


def _quantize_weights(op, layer, in_scale, scales, out_scale):
    weight = np.rint(layer.weight / scales[:, None, None, None])
    op.weight = np.clip(weight, -127, 127).astype(np.int8)
    if layer.kind == "dense":
        op.weight = op.weight.reshape(op.out_c, 1, 1, -1)
    op.bias = np.rint(layer.bias / (in_scale * scales)).astype(np.int32)
    op.mults, op.shifts = _multipliers(in_scale * scales / out_scale)
    op.eps_w, op.eps_b = perturbation(op)


def perturbation(op):
    """Weight step in LSB, bias step in quarters of an output LSB.

    Measured to be good for small image networks: the fewer output positions
    share a weight, the larger the step. It matters little (about 0.1 points).
    """
    positions = op.out_h * op.out_w
    if positions == 1:
        return 2, 16
    share = 2 if op.kind == L.DWCONV else 1
    if positions <= 16:
        return 4 // share, 8 // share
    return 1, (4 if positions <= 64 else 2) // share


def _emit_logits(op, in_scale, scales):
    op.flags |= L.EMIT_LOGITS
    op.lmults, op.lshifts = _multipliers(in_scale * scales * NATS)


def _add_multipliers(op, layer, in_scale, ranges, out_scale):
    other_scale, op.in2_zp = ranges[layer.inputs[1]]
    op.in2 = layer.inputs[1]
    top = 2 * max(in_scale, other_scale)
    op.mult1, op.shift1 = multiplier(in_scale / top)
    op.mult2, op.shift2 = multiplier(other_scale / top)
    op.mult, op.shift = multiplier(top / ((1 << 20) * out_scale))


def store_statistics(model, calib_x):
    """Covariance of the input's patches; clean accumulator statistics (not of the head) and the
    bias limits, op by op."""
    tensors = {model.in_tensor: model.table[calib_x]}
    model.covariance = patches.covariance(model.ops[0], tensors[model.in_tensor])
    for op in model.ops:
        x = tensors[op.in1]
        if op.kind not in modelfile.WEIGHTED:
            tensors[op.out] = batch.run_op(op, x, tensors.get(op.in2))
            continue
        acc = batch.accumulators(op, x)
        stats = channel_statistics(acc.reshape(-1, op.out_c))
        if op is not model.ops[-1]:
            op.stats = stats
        limit_bias(op, stats)
        tensors[op.out] = batch.finish(op, acc)


def limit_bias(op, stats):
    """b_max: room for what realign and training may do to a bias, and F that goes with it.

    Wanted: |b| + 4 |mean| + 8 deviations (realign's gain is at most 4), times
    4 where this costs no fraction bit.
    """
    mean, sd = np.abs(stats.astype(np.int64))
    wanted = int((np.abs(op.bias.astype(np.int64)) + 4 * mean + (sd >> 1)).max()) + 1
    op.b_max = wanted
    op.f = modelfile.fraction_bits(op)
    if op.f < 0:
        raise ValueError(
            f"layer {op.name!r} has {op.row} weights per channel and may overflow 32 bits: "
            f"make it narrower"
        )
    op.b_max = 4 * wanted
    if modelfile.fraction_bits(op) != op.f:
        op.b_max = wanted


def _multipliers(scales):
    pairs = [multiplier(float(scale)) for scale in scales]
    return np.array([m for m, _ in pairs], np.int32), np.array([s for _, s in pairs], np.int8)


def _round_up(scale):
    """To 10 significant bits, which is fine enough for a range of calibration values."""
    mantissa, exponent = math.frexp(scale)
    return math.ldexp(math.ceil(mantissa * 1024), exponent - 10)


def _f32(value):
    """The float32 nearest to a scale, as Python float: multipliers are made from these."""
    return float(np.float32(value))
