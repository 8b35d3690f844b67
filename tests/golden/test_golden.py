"""The bits of every recipe and setting, on CPython, the unix port and the board, and by the
oracle. They change only with a sentence why in the commit (regenerate.py)."""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import golden_run  # noqa: E402

FULL = bool(os.environ.get("MICROZO_FULL"))
ORACLE = ("default", "entropy-open", "spsa", "mask-random", "node-open", "clamped-tail")


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    return golden_run.make_sets(tmp_path_factory.mktemp("sets"))


def assert_golden(results, fields=golden_run.FIELDS):
    goldens = golden_run.read()
    assert results
    wrong = {
        name: [field for field in fields if result[field] != goldens[name][field]]
        for name, result in results.items()
    }
    assert not {name: fields for name, fields in wrong.items() if fields}


def test_every_case_has_a_golden():
    assert list(golden_run.read()) == [case["name"] for case in golden_run.cases(slow=True)]


def test_cpython(sets, tmp_path):
    assert_golden(golden_run.on_cpython(sets, tmp_path, golden_run.cases(slow=FULL)))


@pytest.mark.slow
def test_unix_port(sets, tmp_path):
    """Half a second a case, hence all of them only with MICROZO_FULL."""
    assert_golden(golden_run.on_unix(sets, tmp_path, golden_run.cases(slow=FULL, board=not FULL)))


@pytest.mark.board
def test_board(sets, tmp_path):
    assert_golden(golden_run.on_board(sets, tmp_path, golden_run.cases(board=True)))


@pytest.mark.slow
def test_oracle(sets, tmp_path):
    """Its NumPy kernels take a second a case and share no code with those in C."""
    which = golden_run.cases(names=None if FULL else ORACLE)
    which = [case for case in which if case["model"] != "demo"]
    assert_golden(golden_run.on_cpython(sets, tmp_path, which, kernels="oracle"))
