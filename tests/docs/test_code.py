"""The Python of tutorial and how-to pages runs as it is written, page by page, on CPython."""

import pathlib
import re
import shutil

import pytest
import small

import microzo

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGES = [
    "tutorial/first-steps.md",
    "howto/write-a-recipe.md",
    "howto/resume-and-replay.md",
    "howto/simulate-on-the-pc.md",
    "howto/live.md",
    "howto/your-own-sensor.md",
]


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(), re.M | re.S)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a small model and its data under the names of the pages."""
    monkeypatch.chdir(tmp_path)
    model = small.write_model(tmp_path / "model.safetensors")
    small.write_data(tmp_path, model)
    for name in ("x", "y"):
        (tmp_path / f"{name}.npy").rename(tmp_path / f"train_{name}.npy")
        shutil.copy(tmp_path / f"train_{name}.npy", tmp_path / f"test_{name}.npy")
    return tmp_path


@pytest.mark.parametrize("page", PAGES)
def test_the_page_runs(page, folder):
    names = {
        "microzo": microzo,
        "model": microzo.load("model.safetensors"),
        "data": microzo.Dataset("train_x.npy", "train_y.npy"),
    }
    code = blocks(page)
    assert len(code) > 1
    for block in code:
        exec(compile(block, page, "exec"), names)


def test_pages_with_code_are_tested():
    """import-your-model's needs PyTorch and Keras; test_import_docs runs its commands, and
    tests/importers/test_howto.py the pages of other tools."""
    pages = [*(DOCS / "tutorial").glob("*.md"), *(DOCS / "howto").glob("*.md")]
    with_code = {
        page.relative_to(DOCS).as_posix() for page in pages if "```python" in page.read_text()
    }
    others = {f"howto/{name}.md" for name in ("keras", "pytorch", "scikit-learn", "edge-impulse")}
    others.add("howto/ulab.md")  # test_ulab_page.py
    assert with_code == {*PAGES, "howto/import-your-model.md", *others}
