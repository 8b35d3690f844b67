"""Import of foreign model files: one module a format, each gives a ``modelfile.Model``."""

import pathlib

TFLITE = (".tflite", ".lite")  # Edge Impulse names them so


def import_model(path, calib=None, method="mse", input_range=(0.0, 1.0)):
    """Read a .tflite or .onnx file; see tflite.import_tflite() and onnx.import_onnx()."""
    suffix = pathlib.Path(path).suffix.lower()
    if suffix in TFLITE:
        from .tflite import import_tflite

        return import_tflite(path, calib)
    if suffix == ".onnx":
        from .onnx import import_onnx

        return import_onnx(path, calib, method, input_range)
    raise ValueError(f"{path} is neither .tflite nor .onnx: convert it to one of them")


def reference(path):
    """What compare.compare() takes: a .tflite path, or the float network of another file."""
    suffix = pathlib.Path(path).suffix.lower()
    if suffix in TFLITE:
        return path
    if suffix == ".onnx":
        from .onnx_network import import_network

        return import_network(path).net
    from ..model import netfile

    return netfile.read(path)
