"""`microzo compare MODEL REFERENCE SAMPLES`: layer by layer against the source of a model."""

import dataclasses

import click
import rich.console

from .. import importers
from ..model import checks
from ..model import file as modelfile
from ..reference import compare
from ..report import tables
from .common import json_option, report


@click.command("compare")
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.argument("reference", type=click.Path(exists=True, dir_okay=False))
@click.argument("samples", type=click.Path(exists=True, dir_okay=False))
@click.option("-n", "count", default=16, help="Samples that are used.")
@json_option
def command(model, reference, samples, count, json_file):
    """Compare MODEL with the .tflite, .onnx or float network REFERENCE on SAMPLES (.npy).

    Against .tflite: how many int8 values differ from LiteRT's reference kernels.
    Against floats: the signal to noise ratio of every layer.
    """
    x = checks.array(samples)[:count]
    rows = compare.compare(modelfile.read(model), importers.reference(reference), x)
    if json_file != "-":
        rich.console.Console().print(tables.compared(rows))
    report([dataclasses.asdict(row) for row in rows], json_file)
