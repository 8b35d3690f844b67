"""Types of what microzo offers; a test compares them with the package (mypy's stubtest)."""

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from types import ModuleType
from typing import Any, Protocol, type_check_only

from typing_extensions import Buffer

from .net.model import Model
from .net.tables import MemoryPlan
from .train.progress import Step

__all__ = [
    "ArrayData",
    "Dataset",
    "Trainer",
    "kernels",
    "load",
    "recipe",
    "replay",
    "resume",
    "use",
]
__version__: str

@type_check_only
class DataSource(Protocol):
    """Samples that a run can learn from: at most 65,535."""

    def __len__(self) -> int: ...
    def read_into(self, i: int, buf: Any) -> int | None: ...

def load(path: str) -> Model: ...
def recipe(name: str) -> dict[str, Any]: ...
def resume(
    model: Model,
    journal: str,
    *,
    sync_every: int = ...,
    checkpoint_every: int = ...,
    cache: int | None = ...,
    cache_file: str | None = ...,
) -> Trainer: ...
def replay(model: Model, journal: str, data: DataSource | None = None) -> bool | None: ...
def kernels() -> ModuleType: ...
def use(module: ModuleType) -> ModuleType: ...

class Dataset:
    shape: tuple[int, ...]
    sample_len: int
    def __init__(self, x: str | PathLike[str], y: str | PathLike[str] | None = None) -> None: ...
    def __len__(self) -> int: ...
    @property
    def labelled(self) -> bool: ...
    def check(self, model: Model) -> None: ...
    def read_into(self, i: int, buf: Any) -> int: ...
    def label(self, i: int) -> int: ...
    def close(self) -> None: ...

class ArrayData:
    shape: tuple[int, ...]
    sample_len: int
    def __init__(
        self,
        x: Buffer | Sequence[int],
        y: Buffer | Sequence[int] | None = None,
        n: int | None = None,
    ) -> None: ...
    def __len__(self) -> int: ...
    @property
    def labelled(self) -> bool: ...
    def check(self, model: Model) -> None: ...
    def read_into(self, i: int, buf: Any) -> int: ...
    def label(self, i: int) -> int: ...

class Trainer:
    model: Model
    recipe: dict[str, Any] | None
    seed: int
    def __init__(
        self,
        model: Model,
        recipe: str | Mapping[str, Any] | None = "default",
        layers: str | Sequence[int] = "auto",
        seed: int = 1,
        journal: str | None = None,
        ram: int | None = None,
        sync_every: int = 1,
        checkpoint_every: int = 25,
        board_id: int = 0,
        cache: int | None = None,
        cache_file: str | None = None,
    ) -> None: ...
    @property
    def program(self) -> dict[str, Any] | None: ...
    @property
    def finished(self) -> bool: ...
    def outcomes(self) -> list[str]: ...
    def memory(self, samples: int = 256, labelled: bool = True) -> MemoryPlan: ...
    def run(self, data: DataSource, steps: int | None = None) -> Iterator[Step]: ...
    def find_step(self, data: DataSource) -> int: ...
    def step(self, x: Buffer, y: int | None = None) -> float: ...
