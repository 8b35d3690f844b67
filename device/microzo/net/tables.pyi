"""Types of what is printed of a model and of the memory of a run."""

from .model import Model

def model_table(model: Model) -> str: ...

class MemoryPlan:
    parts: dict[str, int]
    cache: int | None
    notes: list[str]
    total: int
    def __init__(self, parts: dict[str, int], cache: int | None, notes: list[str]) -> None: ...
