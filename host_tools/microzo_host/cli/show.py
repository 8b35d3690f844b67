"""`microzo show MODEL`: what a model file holds."""

import json

import click
import rich.console

from ..importers import finish
from ..model import file as modelfile
from ..model import names
from ..reference import compare
from .common import json_option, report, say
from .encode import range_of


@click.command("show")
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@json_option
def command(model, json_file):
    """Show MODEL: layers, shapes, bytes, scales, what is trainable, its input and classes."""
    made = modelfile.read(model)
    classes = names.of(made)
    entry = json.loads(made.metadata.get("input", "{}"))
    low, high = range_of(made)
    if json_file != "-":
        console = rich.console.Console()
        console.print(compare.summary(made, scales=True))
    size = len(modelfile.pack(made))
    say(
        f"{model}: {len(made.ops)} operators, {made.weights:,} int8 weights, {size:,} bytes",
        json_file,
    )
    say(
        f"input: {made.in_h} x {made.in_w} x {made.in_c} (rows, columns, channels), bytes that "
        f"stand for {low:.3g} to {high:.3g}, scale {made.scales[made.in_tensor]:g}, "
        f"zero point {made.in_zp}",
        json_file,
    )
    if "file_shape" in entry:
        shape = " x ".join(map(str, entry["file_shape"]))
        say(f"its file took {shape}: `microzo encode` puts such samples into order", json_file)
    say("classes: " + ", ".join(f"{i} {name}" for i, name in enumerate(classes)), json_file)
    notes = finish.notes(made)
    for note in notes:
        say(f"- {note}", json_file)
    report(
        {
            "file": str(model), "bytes": size, "weights": made.weights, "classes": classes,
            "input": {"shape": [made.in_h, made.in_w, made.in_c], "low": low, "high": high,
                      "scale": made.scales[made.in_tensor], "zero_point": made.in_zp},
            "layers": [compare.described(made, op) for op in made.ops], "notes": notes,
        },
        json_file,
    )  # fmt: skip
