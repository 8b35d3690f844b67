"""Dilated convolutions as TensorFlow writes them, put back together.

A dilation becomes SPACE_TO_BATCH_ND, a convolution of the parts, BATCH_TO_SPACE_ND, with
reshapes between for one dimension.
"""

import dataclasses

import numpy as np

from .lowering import RESHAPES

CONVOLUTIONS = ("CONV_2D", "DEPTHWISE_CONV_2D")
VALID = 1


def dilated(graph):
    """Replace every such chain by one convolution with a dilation and pads of its own."""
    readers, writers = {}, {}
    for node in graph.nodes:
        for i in node.inputs:
            readers.setdefault(i, []).append(node)
        writers[node.outputs[0]] = node
    for node in list(graph.nodes):
        if node.kind == "SPACE_TO_BATCH_ND" and len(node.inputs) == 3:
            chain = _chain(node, readers, graph.outputs)
            joined = _convolution(graph, chain) if chain else None
            if joined is not None:
                place = graph.nodes.index(chain[-1])
                graph.nodes[place] = joined
                gone = {id(n) for n in chain[:-1]}
                graph.nodes = [n for n in graph.nodes if id(n) not in gone]


def _chain(node, readers, outputs):
    """The nodes from SPACE_TO_BATCH_ND to BATCH_TO_SPACE_ND, or None."""
    chain, convolutions = [node], 0
    while len(chain) < 8:
        out = chain[-1].outputs[0]
        following = readers.get(out, ())
        if len(following) != 1 or out in outputs or following[0].inputs[0] != out:
            return None
        node = following[0]
        chain.append(node)
        if node.kind == "BATCH_TO_SPACE_ND":
            return chain if convolutions == 1 and len(node.inputs) == 3 else None
        if node.kind in CONVOLUTIONS:
            convolutions += 1
        elif node.kind not in RESHAPES:
            return None
    return None


def _convolution(graph, chain):
    first, last = chain[0], chain[-1]
    conv = next(n for n in chain if n.kind in CONVOLUTIONS)
    constants = [graph.tensors[i] for i in (*first.inputs[1:], *last.inputs[1:])]
    if any(t.data is None or t.dtype != "INT32" for t in constants):
        return None
    block, pads, block_out, crops = (t.array() for t in constants)
    o = conv.options
    kernel = graph.tensors[conv.inputs[1]].shape[1:3]
    plain = o.get("Padding") == VALID and all(
        o.get(key, 1) == 1 for key in ("StrideH", "StrideW", "DilationHFactor", "DilationWFactor")
    )
    size = len(block)
    if not plain or size not in (1, 2) or not np.array_equal(block, block_out):
        return None
    if pads.shape != (size, 2) or crops.shape != (size, 2) or size == 1 and kernel[0] != 1:
        return None
    if size == 1:  # one dimension lies along the columns
        block, pads, crops = (np.vstack([n, v]) for n, v in (
            ([1], block[:, None]), ([[0, 0]], pads), ([[0, 0]], crops)))  # fmt: skip
        block = block.reshape(-1)
    pads = pads - crops
    if pads.min() < 0:
        return None
    options = dict(
        o, DilationHFactor=int(block[0]), DilationWFactor=int(block[1]),
        Pads=tuple(int(n) for n in pads.reshape(-1)),
    )  # fmt: skip
    inputs = (first.inputs[0], *conv.inputs[1:])
    return dataclasses.replace(conv, inputs=inputs, outputs=last.outputs, options=options)
