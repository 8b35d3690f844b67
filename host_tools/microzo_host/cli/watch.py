"""`microzo watch PORT`: curves of a run while the board trains."""

import contextlib
import pathlib
import sys

import click
import rich.console
import rich.live

from ..board import errors
from ..board import link as board_link
from ..report import live as lives
from ..report import terminal, web

STOPPED = "stopped by Ctrl-C; a run with a journal goes on when it is started again"


@click.command("watch")
@click.argument("port")
@click.argument("script", required=False, type=click.Path(exists=True, dir_okay=False))
@click.option("--before", default="", metavar="CODE",
              help="Code to run before SCRIPT, such as \"recipe = 'tail'\".")  # fmt: skip
@click.option("--web", "browser", is_flag=True, help="Serve the curves as a page, too.")
@click.option("--web-port", default=8321, show_default=True, type=click.IntRange(0, 65535),
              help="Port of that page on this computer; 0 takes a free one.")  # fmt: skip
def command(port, script, before, browser, web_port):
    """Show loss and accuracy, step by step, while the board at PORT (or auto) trains.

    With SCRIPT, such as device/examples/train.py, it is run on the board, and every step is shown.
    Without, the command listens to a board that trains of its own accord. PORT `-` reads what
    another command prints: mpremote run train.py | microzo watch -

    It ends when the script ends, or by Ctrl-C, which goes on to the script first.
    """
    if before and not script:
        raise click.BadParameter("--before needs a SCRIPT")
    live = lives.Live()
    screen = terminal.Screen(live)
    console = rich.console.Console()
    with contextlib.ExitStack() as stack:
        if browser:
            server = stack.enter_context(web.Server(live, f"Run at {port}", web_port))
            click.echo(f"the curves are at {server.url}")
        shown = rich.live.Live(
            screen, console=console, refresh_per_second=4, transient=True,
            vertical_overflow="visible",
        )  # fmt: skip
        if console.is_terminal:
            stack.enter_context(shown)
        try:
            _follow(live, port, script, before)
        except KeyboardInterrupt:
            live.end(STOPPED)
        except errors.ScriptError as error:
            stopped = "KeyboardInterrupt" in error.traceback.strip().rpartition("\n")[2]
            live.end(STOPPED if stopped else "the script has failed")
            if not stopped:
                click.echo(error.traceback, err=True, nl=False)
                raise
        except BaseException:
            live.end("the board has stopped")
            raise
    console.print(screen)


def _follow(live, port, script, before):
    """Feeds the Live until the run ends."""
    if port == "-":
        while data := sys.stdin.buffer.read1(4096):
            live.feed(data)
        live.end()
    elif script is None:
        for data in board_link.listen(port):
            live.feed(data)
            if live.ended:
                return
    else:
        with board_link.Link(port) as link:
            link.exec("lines = 0")  # train.py then prints every step
            if before:
                link.exec(before)
            link.stream(pathlib.Path(script).read_bytes(), live.feed)
        live.end()
