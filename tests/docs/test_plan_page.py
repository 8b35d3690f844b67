"""docs/reference/plan.md names every field and every part of what `microzo plan --json` writes."""

import json
import pathlib
import re

import pytest
from click.testing import CliRunner

from microzo_host import cli

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "reference" / "plan.md").read_text()


def names(after, before):
    """What the first column of the table between two headings lists."""
    part = PAGE[PAGE.index(after) : PAGE.index(before)]
    rows = re.findall(r"^\| (`.*?) \|", part, re.M)
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


@pytest.fixture(scope="module")
def plan(model_path):
    arguments = ["plan", model_path, "--recipe", "default", "--ram", "256K", "--json", "-"]
    return json.loads(CliRunner().invoke(cli.main, arguments).stdout)


def test_fields(plan):
    assert names("# Fields of the plan", "## Parts") == set(plan)


def test_parts(plan):
    """nodes are of another recipe."""
    assert names("## Parts", "`trainer.memory()`") == set(plan["parts"]) | {"nodes"}
