"""The native API of recolor (SPEC.md, section 4): see api.py."""

import numpy as np

from microzo.net import words as L

from . import color
from .api import check_seed, integer, parameters, refuse_overlap
from .record import Net, part, readable, require, writable


def _op(net, index):
    o = net.op(integer(index))
    require(o.kind == L.CONV, "the operator is no CONV")
    require(o.out_c <= color.COLORS, "recolor takes at most 64 channels")
    return o


def _sums(o, sums, products, access):
    cells = o.out_c * (o.out_c + 1) // 2
    return (
        part(access(sums, 8), 0, o.out_c, np.int64),
        part(access(products, 8), 0, cells, np.int64),
    )


def color_sums(plan, blob, state, arena, params, sums, products):
    refuse_overlap([sums, products], [plan, blob, state, arena, params])
    net = Net(plan, blob, state, arena, access=readable)
    op, seed, sample, places, shift = parameters(params, 5)
    o = _op(net, op)
    check_seed(seed)
    require(0 <= sample < 1 << 28 and 0 <= places < 1 << 16, "sample or places out of range")
    require(0 <= shift <= 31, "shift must be 0..31")
    first, second = _sums(o, sums, products, writable)
    net.input(o), net.output(o), net.weights(o), net.masters(o), net.bias(o)
    net.check_scratch(o)
    color.add_sums(net, o, seed, sample, places, shift, first, second)
    return 0


def color_map(plan, blob, params, sums, products, room, out):
    refuse_overlap([room, out], [plan, blob, params, sums, products])
    net = Net(plan, blob)
    op, n, shrink = parameters(params, 3)
    o = _op(net, op)
    require(1 <= n <= 1 << 20 and 1 <= shrink <= 256, "n or shrink out of range")
    c = o.out_c
    net.clean(o)
    root = part(net.blob, o.stat_off + 8 * c, c * (c + 1) // 2, np.int16)
    measured = _sums(o, sums, products, readable)
    part(writable(room, 4), 0, 3 * c * c, np.int32)
    target = part(writable(out, 2), 0, c * c, np.int16)
    mapping = color.color_map(n, shrink, *measured, root)
    require(mapping is not None, "n positions cannot give these sums")
    target[...] = mapping.reshape(-1)
    return 0


def color_mix(plan, state, op, mapping):
    refuse_overlap([state], [plan, mapping])
    net = Net(plan, None, state)
    o = _op(net, op)
    require(o.master_off >= 0, "the operator has no masters")
    rows = part(readable(mapping, 2), 0, o.out_c * o.out_c, np.int16)
    color.mix(net.masters(o), rows.reshape(o.out_c, o.out_c))
    return 0
