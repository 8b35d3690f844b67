"""Float networks as files: tensors ``LAYER.weight`` and so on, with the graph as JSON.

``.safetensors`` holds the graph in its metadata, ``.npz`` in an entry ``graph``: a list of layers
{"kind", "name", "inputs", and where they matter "stride", "pads", "kernel", "dilation",
"activation", "axis"}, beside ``input_shape``. Weights are OHWI; BatchNorm is LAYER.gamma, .beta,
.mean, .var.
A file without a graph is taken for weights of the demo network (``demonet``).
"""

import io
import json
import pathlib

import numpy as np

from ..data import demonet
from . import network, safetensors

NORMS = ("gamma", "beta", "mean", "var")
SETTINGS = ("kernel", "stride", "pads", "activation", "dilation", "axis")


def read(path):
    """The ``network.Network`` in a file; ValueError in one sentence if it is none."""
    path = pathlib.Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist: give .safetensors or .npz float weights")
    tensors, graph, shape = _read_npz(path) if path.suffix == ".npz" else _read_safetensors(path)
    if graph is None:
        bare = demonet.create(0)
        layers = [_describe(layer) for layer in bare.layers]
        shape = bare.input_shape
    else:
        layers = graph
    try:
        built = [_layer(description, tensors, path) for description in layers]
        return network.Network(tuple(int(n) for n in shape), built, path.stem)
    except (KeyError, TypeError, AttributeError):
        raise ValueError(f"{path} has a damaged graph: write it again by netfile.write") from None


def write(path, net):
    """Write a network with its graph, .npz or .safetensors by the name."""
    tensors = {}
    for layer in net.layers:
        for key in ("weight", "bias"):
            if getattr(layer, key) is not None:
                tensors[f"{layer.name}.{key}"] = getattr(layer, key).astype(np.float32)
        for key in NORMS if layer.bn is not None else ():
            tensors[f"{layer.name}.{key}"] = getattr(layer.bn, key).astype(np.float32)
    texts = {
        "graph": json.dumps([_describe(layer) for layer in net.layers]),
        "input_shape": json.dumps(list(net.input_shape)),
    }
    if pathlib.Path(path).suffix == ".npz":
        buffer = io.BytesIO()
        np.savez(buffer, **tensors, **{k: np.array(v) for k, v in texts.items()})
        pathlib.Path(path).write_bytes(buffer.getvalue())
    else:
        safetensors.write(path, tensors, texts)


def _read_safetensors(path):
    tensors, metadata = safetensors.read(path)
    return tensors, *_graph(metadata.get("graph"), metadata.get("input_shape"), path)


def _read_npz(path):
    try:
        with np.load(path, allow_pickle=False) as file:
            tensors = dict(file)
    except Exception:  # of a damaged archive NumPy, zipfile and zlib raise anything
        raise ValueError(f"{path} is no .npz file: write it by numpy.savez") from None
    texts = (str(tensors.pop(k)) if k in tensors else None for k in ("graph", "input_shape"))
    return tensors, *_graph(*texts, path)


def _graph(graph, shape, path):
    if graph is None:
        return None, None
    try:
        return json.loads(graph), json.loads(shape)
    except (TypeError, ValueError, RecursionError):
        raise ValueError(f"{path} has a damaged graph: write it again by netfile.write") from None


def _describe(layer):
    described = {"kind": layer.kind, "name": layer.name, "inputs": list(layer.inputs)}
    default = network.Layer("", "", ())
    for key in SETTINGS:
        value = getattr(layer, key)
        if value != getattr(default, key):
            described[key] = list(value) if isinstance(value, tuple) else value
    return described


def _layer(description, tensors, path):
    name = description["name"]
    settings = {k: v for k, v in description.items() if k in SETTINGS}
    for key, value in settings.items():
        settings[key] = tuple(value) if isinstance(value, list) else value
    layer = network.Layer(
        description["kind"],
        name,
        tuple(description["inputs"]),
        weight=tensors.get(f"{name}.weight"),
        bias=tensors.get(f"{name}.bias"),
        **settings,
    )
    if layer.kind in network.WEIGHTED and (layer.weight is None or layer.weight.ndim != 4):
        raise ValueError(
            f"{path} holds no float network: it has no four-dimensional {name}.weight; "
            f"give weights written by netfile.write or microzo_lab.pretrain"
        )
    norms = [tensors.get(f"{name}.{key}") for key in NORMS]
    if all(norm is not None for norm in norms):
        layer.bn = network.BatchNorm(*norms)
    return layer
