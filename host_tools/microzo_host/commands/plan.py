"""`microzo plan MODEL`: what training takes on a board, before anything is sent."""

import dataclasses

import click

from .. import modelfile, ramplan
from .common import json_option, report, say


@click.command("plan")
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.option("--recipe", default="default", show_default=True)
@click.option("--layers", default="auto", show_default=True, help="auto, all, lastN or 0,1,2.")
@click.option("--samples", default=256, show_default=True, help="Labelled samples.")
@click.option("--ram", metavar="BYTES", help="RAM of the board, such as 262144 or 256K.")
@click.option("--board", type=click.Choice(list(ramplan.BOARDS)), help="A board that is known.")
@json_option
def command(model, recipe, layers, samples, ram, board, json_file):
    """Print peak RAM by part, MACs, and whether MODEL's training fits; status 1 if not."""
    if ram and board:
        raise click.BadParameter("give --ram or --board, not both")
    modelfile.read(model)
    size = _bytes(ram) if ram else ramplan.BOARDS[board or "mps2-an386-256K"]
    found = ramplan.predict(model, recipe, _layers(layers), samples, size)
    report(dataclasses.asdict(found), json_file)
    for layer in found.layers:
        shape = " x ".join(map(str, layer["output"]))
        say(f"{layer['op']:3} {layer['kind']:8} {shape:14} {layer['macs']:9,} MACs", json_file)
    say(f"a forward pass: {found.macs_forward:,} MACs", json_file)
    for kind, macs in found.macs_step.items():
        say(f"a step of {kind}: {macs:,} MACs", json_file)
    for name, part in found.parts.items():
        say(f"{name:26} {part:9,}", json_file)
    say(f"{'peak RAM':26} {found.peak:9,} of {found.ram:,} bytes", json_file)
    for note in found.notes:
        say(note, json_file)
    if not found.fits:
        raise MemoryError(
            f"recipe {found.recipe} needs {found.peak:,} bytes and the board has {found.ram:,}: "
            f"train fewer layers (--layers last2) or choose another recipe"
        )


def _layers(text):
    """``auto``, ``all``, ``lastN`` as they are; ``0,1`` as a list."""
    if text[:1].isdigit():
        try:
            return [int(part) for part in text.split(",")]
        except ValueError:
            raise ValueError(f"layers {text!r}: give auto, all, lastN or numbers: 0,1") from None
    return text


def _bytes(text):
    scale = {"K": 1 << 10, "M": 1 << 20}.get(text[-1:].upper(), 1)
    digits = text if scale == 1 else text[:-1]
    if not digits.isdigit():
        raise ValueError(f"{text!r} is no amount of RAM: give bytes or such as 256K")
    return int(digits) * scale
