"""`microzo romfs OUT FILES...`: a ROMFS image from which models are mapped, not copied."""

import pathlib

import click

from ..board import romfs as romfs_image
from .common import force_option, write_new


@click.command("romfs")
@click.argument("out", type=click.Path(dir_okay=False))
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
@force_option
def command(out, files, force):
    """Write OUT, an image of FILES aligned to 8 bytes; `mpremote romfs deploy OUT` installs it."""
    image = romfs_image.make({pathlib.Path(f).name: pathlib.Path(f).read_bytes() for f in files})
    write_new(out, image, force)
    click.echo(f"{out}: {len(files)} files, {len(image):,} bytes")
