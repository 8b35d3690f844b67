"""`microzo quantize WEIGHTS CALIBRATION -o MODEL`."""

import click

from ..model import checks, netfile, quantize
from ..model import file as modelfile
from .common import force_option, json_option, refuse_existing, report, say, write_new

ENOUGH = 64  # calibration images under which the ranges are doubtful


@click.command("quantize")
@click.argument("weights", type=click.Path(dir_okay=False))
@click.argument("calibration", type=click.Path(dir_okay=False))
@click.option("-o", "--out", required=True, type=click.Path(dir_okay=False), help="Model file.")
@force_option
@json_option
def command(weights, calibration, out, force, json_file):
    """Quantize float WEIGHTS (.safetensors, .npz) with clean uint8 images CALIBRATION (.npy)."""
    refuse_existing(out, force)
    if weights.lower().endswith((".onnx", ".tflite")):
        raise ValueError(f"{weights} is for `microzo import {weights} -o {out}`, not for quantize")
    net = netfile.read(weights)
    images = checks.array(calibration)
    images = images[..., None] if images.ndim == 3 else images
    model = quantize.quantize(net, images)
    if len(images) < ENOUGH:
        click.echo(
            f"warning: only {len(images)} calibration images, some hundreds are better", err=True
        )
    raw = modelfile.pack(model)
    write_new(out, raw, force)
    say(
        f"{out}: {len(model.ops)} operators, {model.weights:,} int8 weights, {len(raw):,} bytes, "
        f"input {model.in_h}x{model.in_w}x{model.in_c}, {model.classes} classes",
        json_file,
    )
    layers = [{"name": op.name, "kind": modelfile.KIND_NAMES[op.kind]} for op in model.ops]
    report(
        {"file": str(out), "bytes": len(raw), "weights": model.weights, "layers": layers},
        json_file,
    )
