"""`microzo kit FOLDER`: the labs on a USB stick, for computers without a network."""

import importlib.util
import sys

import click

from .. import extras
from .group import SeveralValues

SYSTEMS = ("windows", "macos", "macos-intel", "linux")  # keys of labs.wheels.TARGETS


@click.command("kit", cls=SeveralValues)
@click.argument("folder", type=click.Path(file_okay=False))
@click.option("--system", "systems", multiple=True, type=click.Choice(SYSTEMS),
              default=("windows", "macos", "linux"), show_default=True)  # fmt: skip
@click.option("--python", "pythons", multiple=True, metavar="3.N",
              default=("%d.%d" % sys.version_info[:2],), show_default=True,
              help="Versions of Python on the computers.")  # fmt: skip
@click.option("--wheel", type=click.Path(exists=True, dir_okay=False),
              help="microzo's own wheel, if not that of `make dist`.")  # fmt: skip
def command(folder, systems, pythons, wheel):
    """Fill FOLDER with all that `python install.py` there needs, without a network."""
    if importlib.util.find_spec("packaging") is None:
        raise extras.missing("microzo kit needs packaging", "lab")
    from ..labs import kit

    size = kit.make(folder, wheel, systems, pythons, click.echo)
    click.echo(f"{folder}: {size / 1e6:.0f} MB of wheels; `python install.py` there installs them")
