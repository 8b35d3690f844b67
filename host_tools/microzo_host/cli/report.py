"""`microzo report RUN`: what a run did, as one page and pictures."""

import pathlib

import click

from ..model import file as modelfile
from ..plan import ram as ramplan
from ..report import page, run, runfiles
from .common import json_option, progress, report, say, write_new
from .target import target_of

PATH = click.Path(exists=True, dir_okay=False, path_type=pathlib.Path)
PAIR = {"nargs": 2, "type": PATH, "metavar": "X Y"}


@click.command("report")
@click.argument("folder", metavar="[RUN]", required=False,
                type=click.Path(exists=True, file_okay=False))  # fmt: skip
@click.option("--journal", type=PATH, help="Instead of RUN/train.journal.")
@click.option("--model", type=PATH, help="The base model; instead of RUN/model.safetensors.")
@click.option(
    "--data", help="What was trained on; instead of RUN/train_x.npy, train_y.npy.", **PAIR
)
@click.option("--test", help="Samples to measure on; instead of RUN/test_x.npy, test_y.npy.",
              **PAIR)  # fmt: skip
@click.option("--adapted", type=PATH, help="The model that the board saved, to compare with.")
@click.option("--ram", metavar="BYTES", help="RAM of the board, such as 262144 or 256K.")
@click.option("--board", type=click.Choice(list(ramplan.BOARDS)), help="A board that is known.")
@click.option("--clock", metavar="HZ", help="Clock of the board, such as 64000000 or 64M.")
@click.option("--romfs", is_flag=True, help="The model was mapped from ROMFS.")
@click.option("-o", "--out", metavar="FOLDER", default="",
              help="Where the page and the pictures go (default: RUN/report).")  # fmt: skip
@json_option
def command(folder, journal, model, data, test, adapted, ram, board, clock, romfs, out, json_file):
    """Write report.html, which holds all, and its pictures as PNG files.

    RUN is a folder with the files of train.py: the journal, the model (or in the folder above),
    the training data, and test data if there are. The run is replayed and measured on the way,
    which takes some seconds.
    """
    files = runfiles.find(folder, journal, model, data, test, adapted)
    modelfile.read(files.model)
    target = target_of(ram, board, clock)
    out = pathlib.Path(out or pathlib.Path(folder or ".", "report"))
    if out.exists() and not out.is_dir():
        raise NotADirectoryError(f"{out} is no folder: choose another by --out")
    with progress() as bars:
        task = bars.add_task("replay", total=None)
        made = run.report(
            files, target, romfs, lambda done, n: bars.update(task, completed=done, total=n)
        )
    title = f"Run of {files.journal.name}" + (f" in {pathlib.Path(folder).name}" if folder else "")
    html = page.report_page(made, title)
    out.mkdir(parents=True, exist_ok=True)
    write_new(out / "report.html", html.encode(), force=True)
    for name, data in made.pictures.items():
        write_new(out / name, data, force=True)
    facts = made.facts
    say(
        f"{facts['before']:.1f} % -> {facts['after']:.1f} % of {facts['samples_measured']} "
        f"{facts['measured_on']} samples; replay {facts['replay']}",
        json_file,
    )
    say(f"{out / 'report.html'}, {len(made.pictures)} pictures beside it", json_file)
    report(facts | {"curves": made.live, "pictures": sorted(made.pictures)}, json_file)
