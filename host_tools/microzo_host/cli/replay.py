"""`microzo replay MODEL JOURNAL`: audit what a board trained."""

import click

from .. import replay
from .common import force_option, json_option, refuse_existing, report, say, write_new


@click.command("replay")
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.argument("journal", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--data", nargs=2, type=click.Path(exists=True), metavar="X Y", help="Training data."
)
@click.option("--adapted", type=click.Path(exists=True), help="Compare with this adapted model.")
@click.option("-o", "--out", type=click.Path(dir_okay=False), help="Write the rebuilt model.")
@force_option
@json_option
def command(model, journal, data, adapted, out, force, json_file):
    """Rebuild the trained model from the base MODEL and the JOURNAL of the board's run."""
    if out:
        refuse_existing(out, force)
    result = replay.replay(model, journal, data, adapted)
    if out:
        write_new(out, replay.saved(result.model), force)
    report({"identical": result.identical, "finished": result.confirmed is not None}, json_file)
    if result.identical:
        say("journal replay: identical", json_file)
    elif result.confirmed is None and adapted is None:
        say("journal replay: the run was not finished, nothing to compare with", json_file)
    else:
        raise ValueError(f"journal replay differs: {journal} does not lead to the board's weights")
