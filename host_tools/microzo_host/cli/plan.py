"""`microzo plan MODEL`: what training takes on a board, before anything is sent."""

import click
import rich.console

import microzo
from microzo.train import online

from .. import recipefile
from ..model import file as modelfile
from ..plan import predict as planning
from ..plan import ram as ramplan
from ..report import tables
from .common import json_option, report, say
from .target import target_of


@click.command("plan")
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.option("--recipe", default="default", show_default=True,
              help="A name, or a .json file that holds a recipe.")  # fmt: skip
@click.option("--layers", default="auto", show_default=True, help="auto, all, lastN or 0,1,2.")
@click.option("--samples", default=256, show_default=True, type=click.IntRange(1),
              help="Labelled samples; a recipe says how many it takes of them.")  # fmt: skip
@click.option("--live", is_flag=True, help="Samples come one by one: Trainer.step.")
@click.option("--ram", metavar="BYTES", help="RAM of the board, such as 262144 or 256K.")
@click.option("--board", type=click.Choice(list(ramplan.BOARDS)), help="A board that is known.")
@click.option("--romfs", is_flag=True, help="MODEL is mapped from ROMFS: weights take no RAM.")
@click.option("--clock", metavar="HZ", help="Clock of the board, such as 64000000 or 64M.")
@click.option("--details", is_flag=True, help="Also layers, RAM by part, flash.")
@json_option
def command(model, recipe, layers, samples, live, ram, board, romfs, clock, details, json_file):
    """Print what training MODEL takes, and whether it fits; status 1 if not.

    Peak RAM, estimated time of the run and of the steps of each stage, what else fits, and the
    best set of layers.
    """
    target = target_of(ram, board, clock)
    modelfile.read(model)
    made = recipefile.read(recipe)
    if live:
        loaded = microzo.load(str(model))
        made = online.live(made, loaded, ramplan.room(loaded, made, target.ram, romfs))
    found = planning.plan(model, made, _layers(layers), samples, target, romfs)
    report(found, json_file)
    say(_verdict(found, not (ram or board)), json_file)
    if "stages" in found:
        _show(found, json_file)
        if details:
            _show_details(found, json_file)
    _show_advice(found, json_file)
    if not found["fits"]:
        raise MemoryError(found["refused"])


def _show(found, json_file):
    """The run itself, stage by stage."""
    if json_file != "-":
        rich.console.Console().print(tables.planned(found))
    for note in found["notes"]:
        say(note, json_file)


def _verdict(found, assumed):
    """One line: whether it fits, how long it takes, and on which board."""
    board = f"{found['ram'] // 1024} KB" + (" (assumed: --ram, --board)" if assumed else "")
    if not found["fits"]:
        return f"does not fit in {board}"
    seconds = found["seconds_run"]
    time = f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
    return (
        f"fits: peak RAM {found['peak'] / 1024:.0f} of {board}, about {time} on a "
        f"{found['core']} at {found['clock'] / 1e6:g} MHz"
    )


def _show_details(found, json_file):
    """Layers, RAM by part, flash."""
    for layer in found["layers"]:
        shape = " x ".join(map(str, layer["output"]))
        say(f"{layer['op']:3} {layer['kind']:8} {shape:14} {layer['macs']:9,} MACs", json_file)
    for name, part in found["parts"].items():
        say(f"{name:26} {part:9,}", json_file)
    say(f"{'peak RAM':26} {found['peak']:9,} of {found['ram']:,} bytes", json_file)
    flash = ", ".join(f"{name} {size:,}" for name, size in found["flash"].items())
    say(f"flash {sum(found['flash'].values()):,} bytes: {flash}", json_file)


def _show_advice(found, json_file):
    """What else fits on the board."""
    for romfs, where in ((False, "weights in RAM"), (True, "weights mapped from ROMFS")):
        fitting = [a for a in found["alternatives"] if a["fits"] and a["romfs"] == romfs]
        names = ", ".join(f"{_name(a)} {a['peak']:,}" for a in fitting)
        say(f"fits with {where}: {names or 'nothing'}", json_file)
    best = ",".join(map(str, found["best_layers"]))
    say(f"most trained values for spsa: {'--layers ' + best if best else 'none fit'}", json_file)


def _name(alternative):
    """The recipe, with the stages that are left of it where others do not fit."""
    name, kinds = alternative["recipe"], alternative["stages"]
    whole = [stage["kind"] for stage in microzo.recipe(name)["stages"]]
    return name if set(kinds) == set(whole) else f"{name} ({', '.join(kinds)} alone)"


def _layers(text):
    """``auto``, ``all``, ``lastN`` as they are; ``0,1`` as a list."""
    if text[:1].isdigit():
        try:
            return [int(part) for part in text.split(",")]
        except ValueError:
            raise ValueError(f"layers {text!r}: give auto, all, lastN or numbers: 0,1") from None
    return text
