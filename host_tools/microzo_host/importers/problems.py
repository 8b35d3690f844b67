"""What an importer cannot take: collected, then told at once."""

from ..visible import visible


class Unsupported(ValueError):
    """One thing of a foreign model that microzo cannot run, with what to do instead."""


class Problems:
    """Collects everything unsupported in one file."""

    def __init__(self, path):
        self.path, self.found = path, []

    def add(self, problem):
        self.found.append(visible(str(problem), ""))

    def raise_if_any(self):
        """One ValueError, one sentence, that lists all of them."""
        if not self.found:
            return
        count = "one thing" if len(self.found) == 1 else f"{len(self.found)} things"
        raise ValueError(
            f"{self.path} has {count} that microzo cannot run: {'; '.join(self.found)}"
        )


def label(kind, name):
    """How an operator is named in errors: its kind and the tensor that it writes."""
    return f"{kind} {name!r}"
