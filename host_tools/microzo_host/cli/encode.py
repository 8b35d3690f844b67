"""`microzo encode X.npy MODEL -o OUT`: samples as the raw bytes of one model."""

import io

import click
import numpy as np

from ..model import checks, encode
from ..model import file as modelfile
from .common import force_option, json_option, refuse_existing, report, say, write_new

MANY = 0.01  # of the values: so many clipped ones are doubtful
FEW = 16  # levels of 256


@click.command("encode")
@click.argument("x", type=click.Path(exists=True, dir_okay=False))
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.option("-o", "--out", required=True, type=click.Path(dir_okay=False), help="Raw samples.")
@force_option
@json_option
def command(x, model, out, force, json_file):
    """Turn samples X (.npy: floats, integers, or raw uint8) into the raw bytes of MODEL.

    Real numbers get the model's scale and zero point. (number, channels, rows, columns) is put
    into the model's order if its file took that.
    """
    refuse_existing(out, force)
    loaded = modelfile.read(model)
    result = encode.encode(loaded, checks.array(x), x)
    file = io.BytesIO()
    np.save(file, result.raw)
    write_new(out, file.getvalue(), force)
    share, levels = result.clipped / result.values, len(np.unique(result.raw))
    say(
        f"{out}: {len(result.raw)} samples of {loaded.in_h}x{loaded.in_w}x{loaded.in_c}, "
        f"{result.clipped} of {result.values} values clipped ({100 * share:.1f} %), "
        f"{levels} of 256 levels used",
        json_file,
    )
    low, high = range_of(loaded)
    if share > MANY or levels < min(FEW, result.values):
        say(
            f"warning: the model knows {low:.3g} to {high:.3g}: is this what it was trained on?",
            json_file,
        )
    report(
        {
            "file": str(out), "samples": len(result.raw), "clipped": result.clipped,
            "values": result.values, "levels": levels, "low": low, "high": high,
        },
        json_file,
    )  # fmt: skip


def range_of(model):
    """(low, high) that int8 inputs of a model stand for."""
    scale = model.scales[model.in_tensor]
    return (-128 - model.in_zp) * scale, (127 - model.in_zp) * scale
