"""Packages that only some commands need: the extras of pyproject.toml."""

MAKE = {
    "cluster": "make test-packages",
    "models": "make test-packages",
    "study": "make study-packages",
}


def missing(what, extra):
    """An ImportError that says how to get the packages of an extra."""
    return ImportError(
        f"{what}: run `{MAKE[extra]}`, or `pip install -e .[{extra}]` in microzo's folder"
    )
