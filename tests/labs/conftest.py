"""The folder of the labs, in full size and in a small one."""

import importlib.util
import os
import re
import shutil
import sys

import pytest

from microzo_host.labs import data, folder, sheets
from microzo_host.place import CLONE

NEEDED = ("sklearn", "jupytext", "skl2onnx", "onnx", "matplotlib")
FULL = bool(os.environ.get("MICROZO_FULL"))
STRICT = bool(os.environ.get("CI") or os.environ.get("MICROZO_STRICT"))
TRAIN, TEST = 40, 60  # samples of the small folder
CONSTANT = re.compile(r"^([A-Z]+) = (.+)$", re.M)
SMALL = {"STEPS": "4", "REPEATS": "2", "PROBES": "(1, 4)", "SAMPLES": "60"}


def _lab_pages():
    spec = importlib.util.spec_from_file_location(
        "tool_lab_pages", CLONE / "boards" / "tools" / "lab_pages.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sys.modules["lab_pages"] = _lab_pages()


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent.name == "labs":
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def packages():
    """Skips without the extra `notebooks`, and fails where it is promised."""
    lacking = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if lacking:
        text = f"the extra `notebooks` is not installed: no {', '.join(lacking)}"
        pytest.fail(text) if STRICT else pytest.skip(text)


@pytest.fixture(scope="session")
def labs(packages, tmp_path_factory):
    """The folder that `microzo lab` makes."""
    where = tmp_path_factory.mktemp("labs")
    folder.make(where)
    return where


@pytest.fixture(scope="session")
def small(packages, tmp_path_factory):
    """The same with few samples."""
    where = tmp_path_factory.mktemp("small")
    data.make(where, TRAIN, TEST)
    for name in folder.HELPERS:
        shutil.copy(sheets.folder() / name, where)
    return where


def shortened(code):
    """A block with small numbers of steps, probes and samples."""

    def change(match):
        value = SMALL.get(match[1], match[2])
        return f"{match[1]} = {'(20, 40)' if match[2].startswith('(20,') else value}"

    return CONSTANT.sub(change, code)
