"""The page of what runs where names tests that exist."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "where-it-runs.md"
ROWS = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
HEADS = 2  # first lines of the tables
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", "\n".join(ROWS))))


@pytest.mark.parametrize(("file", "test"), NAMED)
def test_the_test_is_there(file, test):
    assert f"def {test or 'test_'}" in (ROOT / file).read_text()


def test_every_row_names_a_test_or_says_that_none_runs_it():
    rows = [row for row in ROWS if "| test |" not in row]
    assert len(rows) == len(ROWS) - HEADS > 10
    for row in rows:
        assert "built, not run" in row or "`tests/" in row, row
