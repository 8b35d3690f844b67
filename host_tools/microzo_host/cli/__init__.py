"""The command `microzo`: each sub-command is a file of this package.

A failure is one sentence on stderr and exit status 1 (2 for a wrong command
line); MICROZO_TRACEBACK=1 shows where it came from.
"""

import importlib
import keyword
import os
import sys

import click

COMMANDS = (
    "quantize import show encode compare plan push run pull eval replay simulate boards doctor "
    "romfs"
).split()


class Commands(click.Group):
    """Loads a command when it is asked for and turns its errors into sentences."""

    def list_commands(self, ctx):
        return COMMANDS

    def get_command(self, ctx, name):
        if name not in COMMANDS:
            return None
        file = f"{name}_" if keyword.iskeyword(name) else name
        return importlib.import_module(f"{__package__}.{file}").command

    def invoke(self, ctx):
        try:
            return super().invoke(ctx)
        except click.BadParameter as error:
            failure = click.ClickException(error.format_message())
            failure.exit_code = 2
            raise failure from None
        except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
            if os.environ.get("MICROZO_TRACEBACK"):
                raise
            raise click.ClickException(sentence(error)) from None


def sentence(error):
    """An exception as one line for a person."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
def main():
    """Quantize a network, put it on a MicroPython board, train it there, audit it here."""


if __name__ == "__main__":
    sys.exit(main())
