"""`microzo import FILE -o MODEL`: an int8 .tflite or an .onnx file as a microzo model."""

import click
import rich.console

from .. import importers
from ..importers import finish
from ..model import checks, names
from ..model import file as modelfile
from ..report import tables
from .common import force_option, json_option, refuse_existing, report, say, write_new


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("-o", "--out", required=True, type=click.Path(dir_okay=False), help="Model file.")
@click.option(
    "--calib",
    type=click.Path(exists=True, dir_okay=False),
    help="Clean samples (.npy): ranges of a float model, statistics for realign.",
)
@click.option(
    "--ranges",
    type=click.Choice(["mse", "percentile"]),
    help="How ranges of an .onnx file are chosen (mse).",
)
@click.option(
    "--input-range",
    type=float,
    nargs=2,
    metavar="LOW HIGH",
    help="What 0 and 255 of uint8 samples stand for in an .onnx file (0 1).",
)
@click.option(
    "--classes",
    metavar="NAMES",
    help="Names of the classes: a file of labels, or a,b,c.",
)
@force_option
@json_option
def command(file, out, calib, ranges, input_range, classes, force, json_file):
    """Import FILE (.tflite, quantized to int8, or .onnx) as OUT."""
    refuse_existing(out, force)
    for name, value in (("--ranges", ranges), ("--input-range", input_range)):
        if value and file.lower().endswith(importers.TFLITE):
            raise click.BadParameter(f"{name} is for .onnx files, a .tflite file has its ranges")
    samples = None if calib is None else checks.array(calib)
    model = importers.import_model(file, samples, ranges or "mse", input_range or (0.0, 1.0))
    given = names.read(classes) if classes else names.inside(file, model.classes)
    if given:
        names.put(model, given)
    raw = modelfile.pack(model)
    write_new(out, raw, force)
    if json_file != "-":
        rich.console.Console().print(tables.layers(model))
    say(
        f"{out}: {len(model.ops)} operators, {model.weights:,} int8 weights, {len(raw):,} bytes, "
        f"input {model.in_h}x{model.in_w}x{model.in_c}, {model.classes} classes"
        + (f": {', '.join(given)}" if given else ""),
        json_file,
    )
    notes = finish.notes(model)
    for note in notes:
        say(f"- {note}", json_file)
    report(
        {"file": str(out), "bytes": len(raw), "weights": model.weights, "notes": notes}, json_file
    )
