"""`microzo show MODEL`: what a model file holds."""

import json
import pathlib

import click
import rich.console

from ..importers import finish
from ..model import file as modelfile
from ..model import names
from ..report import gallery, network, tables
from .common import json_option, report, say, write_new
from .encode import range_of


@click.command("show")
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.option("--draw", metavar="FOLDER", help="Write network.svg, a drawing of the layers.")
@click.option("--samples", nargs=2, type=click.Path(exists=True, dir_okay=False), metavar="X Y",
              help="With --draw: write samples.png, some samples and what MODEL says of them.",
              )  # fmt: skip
@click.option(
    "--corruptions",
    is_flag=True,
    help="With --samples: write corruptions.png, the corruptions side by side.",
)
@click.option("--severity", default=5, show_default=True, type=click.IntRange(1, 5),
              help="Of the corruptions.")  # fmt: skip
@json_option
def command(model, draw, samples, corruptions, severity, json_file):
    """Show MODEL: layers, shapes, bytes, scales, what is trainable, its input and classes.

    With --draw also as pictures.
    """
    if (samples and not draw) or (corruptions and not samples):
        raise click.BadParameter("--corruptions needs --samples, which needs --draw FOLDER")
    loaded = modelfile.read(model)
    classes = names.of(loaded)
    entry = json.loads(loaded.metadata.get("input", "{}"))
    low, high = range_of(loaded)
    if json_file != "-":
        console = rich.console.Console()
        console.print(tables.layers(loaded, scales=True))
    size = len(modelfile.pack(loaded))
    say(
        f"{model}: {len(loaded.ops)} operators, {loaded.weights:,} int8 weights, {size:,} bytes",
        json_file,
    )
    say(
        f"input: {loaded.in_h} x {loaded.in_w} x {loaded.in_c} (rows, columns, channels), bytes "
        f"that stand for {low:.3g} to {high:.3g}, scale {loaded.scales[loaded.in_tensor]:g}, "
        f"zero point {loaded.in_zp}",
        json_file,
    )
    if "file_shape" in entry:
        shape = " x ".join(map(str, entry["file_shape"]))
        say(f"its file took {shape}: `microzo encode` puts such samples into order", json_file)
    say("classes: " + ", ".join(f"{i} {name}" for i, name in enumerate(classes)), json_file)
    drawn = (
        _draw(pathlib.Path(draw), model, loaded, samples, corruptions, severity) if draw else []
    )
    if drawn:
        say(f"{draw}: {', '.join(drawn)}", json_file)
    notes = finish.notes(loaded)
    for note in notes:
        say(f"- {note}", json_file)
    report(
        {
            "file": str(model), "bytes": size, "weights": loaded.weights, "classes": classes,
            "input": {"shape": [loaded.in_h, loaded.in_w, loaded.in_c], "low": low, "high": high,
                      "scale": loaded.scales[loaded.in_tensor], "zero_point": loaded.in_zp},
            "layers": [tables.described(loaded, op) for op in loaded.ops], "notes": notes,
        },
        json_file,
    )  # fmt: skip


def _draw(folder, path, loaded, samples, corruptions, severity):
    """Writes the pictures; their names."""
    made = {"network.svg": network.svg(loaded).encode()}
    if samples:
        x, y = gallery.load(loaded, *samples)
        made["samples.png"] = gallery.samples(path, loaded, x, y)
        if corruptions:
            made["corruptions.png"] = gallery.corrupted(path, loaded, x, y, severity)
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in made.items():
        write_new(folder / name, data, force=True)
    return list(made)
