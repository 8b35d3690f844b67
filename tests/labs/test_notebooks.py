"""The sheets as notebooks and scripts, and `microzo lab`."""

import json
import os
import re
import runpy
import subprocess
import sys

import pytest
from click.testing import CliRunner
from conftest import FULL

from microzo_host import cli
from microzo_host.labs import data, sheets
from microzo_host.place import CLONE

SHEETS = sheets.sheets()
PATHS = [str(CLONE / name) for name in ("device", "host_tools")]
every = pytest.mark.parametrize("page", SHEETS, ids=lambda page: page.stem)


def cells(book, kind):
    return ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == kind]


@every
def test_a_notebook_has_the_blocks_and_the_text_of_its_sheet(page, packages):
    text = sheets.notebook(page)
    assert text == sheets.notebook(page)
    book = json.loads(text)
    assert cells(book, "code") == [block.strip("\n") for block in sheets.blocks(page)]
    prose = "\n\n".join(cells(book, "markdown"))
    assert prose.startswith("# Lab ") and prose.count("**Q") == page.read_text().count("**Q")
    assert not any(f"]({other.name})" in prose for other in SHEETS)
    assert ids_differ(book)


def ids_differ(book):
    ids = [cell["id"] for cell in book["cells"]]
    return len(ids) == len(set(ids))


def test_commands_stay_text_in_a_notebook(packages):
    book = json.loads(sheets.notebook(SHEETS[5]))
    assert any("```sh\nmicrozo push" in cell for cell in cells(book, "markdown"))
    assert not any(cell.startswith("%%") for cell in cells(book, "code"))


def test_scripts_hold_the_code_for_a_board():
    names = [name for page in SHEETS for name in sheets.scripts(page)]
    assert names == sorted(names) and "lab1.py" in names and "lab4b.py" in names
    for page in SHEETS:
        for name, code in sheets.scripts(page).items():
            compile(code, name, "exec")
            assert sheets.PC_ONLY not in code


def test_microzo_lab_writes_what_is_missing_and_nothing_else(packages, tmp_path):
    where = tmp_path / "mine"
    arguments = ["lab", str(where), "--no-open"]
    first = CliRunner().invoke(cli.main, arguments)
    assert first.exit_code == 0, first.output
    names = {path.name for path in where.iterdir()}
    assert {
        *data.NAMES,
        "labkit.py",
        "sensor.py",
        "glossary.md",
        "1-meet-the-board.ipynb",
    } <= names
    assert not any("solution" in name or "teacher" in name for name in names)
    notebook = where / "1-meet-the-board.ipynb"
    notebook.write_text("my work")
    (where / "lab1.py").unlink()
    again = CliRunner().invoke(cli.main, arguments)
    assert "1 new files" in again.output and (where / "lab1.py").exists()
    assert notebook.read_text() == "my work"
    assert "[answers]" not in (where / "README.md").read_text()
    (where / "README.md").unlink()
    CliRunner().invoke(cli.main, [*arguments, "--teacher"])
    assert (where / "1-solution.md").exists() and (where / "6-teacher.md").exists()
    links = re.findall(r"\]\(([^)#]+)", (where / "README.md").read_text())
    assert "1-solution.md" in links and "6-your-own-data.ipynb" in links
    assert all((where / link).exists() for link in links)


def test_without_jupyterlab_a_sentence_tells_the_cure(monkeypatch, tmp_path):
    monkeypatch.setattr("microzo_host.cli.lab.importlib.util.find_spec", lambda name: None)
    result = CliRunner().invoke(cli.main, ["lab", str(tmp_path / "x")])
    assert result.exit_code == 1 and "JupyterLab is not installed: run `make lab`" in result.output
    assert not (tmp_path / "x").exists()


def test_pictures_are_drawn_in_a_notebook(labs, monkeypatch):
    """labkit as it is where ipykernel runs."""
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    import matplotlib.pyplot as plt

    kit = runpy.run_path(str(labs / "labkit.py"))
    kit["show"](bytes(range(256)), title="grey")
    kit["bars"](["a", "b"], [1, 2], title="bars")
    kit["curve"]([1, 2, 3], [3, 1, 2], "curve", "x", "y")
    kit["table"]([[1, 0], [0, 2]], title="table")
    titles = [plt.figure(number).axes[0].get_title() for number in plt.get_fignums()]
    plt.close("all")
    assert titles == ["grey", "bars", "curve", "table"]


@every
@pytest.mark.skipif(not FULL, reason="a minute: make test-full")
def test_a_notebook_runs(page, labs, monkeypatch):
    import nbclient
    import nbformat

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(PATHS))

    book = nbformat.reads(sheets.notebook(page), 4)
    nbclient.NotebookClient(book, timeout=600, resources={"metadata": {"path": labs}}).execute()
    kinds = {output.output_type for cell in book.cells for output in cell.get("outputs", [])}
    assert "error" not in kinds and "display_data" in kinds


def test_the_numpy_kernels_run_the_first_lab(labs, tmp_path):
    """As on a computer without the C kernels: Windows and macOS today."""
    (code,) = sheets.scripts(SHEETS[0]).values()
    (tmp_path / "lab1.py").write_text(code)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([*PATHS, str(labs)])}
    env["MICROZO_LIB"] = str(tmp_path / "no library")
    done = subprocess.run(
        [sys.executable, tmp_path / "lab1.py"], cwd=labs, env=env, capture_output=True, text=True
    )
    assert "running the slow NumPy kernels" in done.stderr and "98.5 % of 200" in done.stdout
