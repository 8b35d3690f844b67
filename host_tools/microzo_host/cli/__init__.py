"""The command `microzo`: each sub-command is a file of this package.

A failure is one sentence on stderr and exit status 1 (2 for a wrong command
line); MICROZO_TRACEBACK=1 shows where it came from.
"""

import click

import microzo

from .group import Commands

COMMANDS = (
    "quantize import show encode compare plan push run record watch pull eval replay report "
    "simulate demo boards emulator doctor romfs examples lab kit"
).split()

MODULES = {name: f"{__name__}.{name}" for name in COMMANDS}
MODULES["import"] += "_"  # a keyword


@click.group(
    cls=Commands,
    commands_of=MODULES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(microzo.__version__, prog_name="microzo")
def main():
    """Quantize a network, put it on a MicroPython board, train it there, audit it here."""
