"""Groups of commands that are loaded when asked for, and options that take several values."""

import importlib
import os

import click

from ..visible import visible

LONGEST = 4000  # characters of a sentence: an importer lists all that it cannot take


class Commands(click.Group):
    """Loads a command when it is asked for and turns its errors into sentences.

    ``commands_of``: {name: module whose ``command`` it is}.
    """

    def __init__(self, *args, commands_of, **kwargs):
        super().__init__(*args, **kwargs)
        self._modules = commands_of

    def list_commands(self, ctx):
        return list(self._modules)

    def get_command(self, ctx, name):
        if name not in self._modules:
            return None
        return importlib.import_module(self._modules[name]).command

    def invoke(self, ctx):
        try:
            return super().invoke(ctx)
        except click.BadParameter as error:
            failure = click.ClickException(error.format_message())
            failure.exit_code = 2
            raise failure from None
        except BrokenPipeError:
            raise  # `microzo plan ... | head`: click ends without a word
        except (ValueError, TypeError, OSError, ImportError, MemoryError, RecursionError) as error:
            if os.environ.get("MICROZO_TRACEBACK"):
                raise
            raise click.ClickException(sentence(error)) from None


class SeveralValues(click.Command):
    """Its options with ``multiple=True`` take several values at once: ``--seeds 0 1 2``."""

    def parse_args(self, ctx, args):
        options = {
            name: parameter
            for parameter in self.params
            for name in parameter.opts
            if isinstance(parameter, click.Option)
        }
        spread, current = [], None
        for word in args:
            if word.startswith("--"):
                option = options.get(word)
                current = word if option is not None and option.multiple else None
                spread += [] if current else [word]
            else:
                spread += [current, word] if current else [word]
        return super().parse_args(ctx, spread)


def sentence(error):
    """An exception as one line for a person."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror and error.filename:
        text = f"{error.filename}: {error.strerror}"
    text = visible(" ".join(text.split())) or type(error).__name__
    return text if len(text) <= LONGEST else text[:LONGEST] + " ..."
