"""A folder in which a student works: notebooks, scripts for a board, model and data."""

import pathlib

from . import data, sheets

HELPERS = ("labkit.py", "sensor.py")


def make(folder, teacher=False):
    """Writes what is not there yet; files that are there stay as they are.

    teacher: with solutions and teacher's pages. Returns the names of the files that were written.
    """
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    source, files = sheets.folder(), {}
    extra = [*source.glob("*-solution.md"), *source.glob("*-teacher.md")] if teacher else []
    pages = [*sheets.PAGES, *(page.name for page in sorted(extra))]
    for name in HELPERS:
        files[name] = (source / name).read_bytes()
    for page in sheets.sheets():
        files[f"{page.stem}.ipynb"] = sheets.notebook(page).encode()
        files |= {name: text.encode() for name, text in sheets.scripts(page).items()}
    for name in pages:
        text = (source / name).read_text(encoding="utf-8")
        files[name] = sheets.relinked(text, pages).encode()
    written = [name for name in files if not (folder / name).exists()]
    for name in written:
        (folder / name).write_bytes(files[name])
    if not all((folder / name).exists() for name in data.NAMES):
        data.make(folder)
        written += data.NAMES
    return written
