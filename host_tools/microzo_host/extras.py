"""Packages that only some commands need: the extras of pyproject.toml."""

from . import place

MAKE = {
    "cluster": "make test-packages",
    "lab": "make lab",
    "models": "make test-packages",
    "tables": "make report-packages",
    "report": "make report-packages",
    "study": "make study-packages",
}


def missing(what, extra):
    """An ImportError that says how to get the packages of an extra."""
    cure = place.cure(MAKE[extra], f"run `pip install 'microzo[{extra}]'`")
    return ImportError(f"{what}: {cure}")
