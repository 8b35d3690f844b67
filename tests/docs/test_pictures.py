"""The pictures of README.md: small, shown, and made by `make pictures`."""

import os
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST = 100_000  # bytes
sys.path.insert(0, str(ROOT / "boards" / "tools"))

import pictures as tool  # noqa: E402


def test_they_are_those_of_the_tool_and_small():
    files = sorted(path.name for path in tool.OUT.iterdir())
    assert files == sorted(tool.NAMES.values())
    assert [name for name in files if (tool.OUT / name).stat().st_size > MOST] == []


def test_each_is_shown_somewhere():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    shown = {
        (page.parent / link).resolve().name
        for page in pages
        for link in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text())
    }
    assert set(tool.NAMES.values()) <= shown


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("MICROZO_FULL"), reason="trains the demo: make test-full")
def test_the_tool_makes_them(tmp_path):
    pytest.importorskip("matplotlib", reason="the extra `report` is not installed")
    tool.make(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(tool.NAMES.values())
    drawing = (tool.OUT / "network.svg").read_text()
    assert (tmp_path / "network.svg").read_text() == drawing
