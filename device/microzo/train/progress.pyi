"""Types of what Trainer.run yields."""

from typing import Any

from ..net.model import Model

class Step:
    stage: str
    step: int
    steps: int
    loss_sum: int
    count: int
    correct: int
    ms: int
    warning: str
    def __init__(
        self,
        stage: str,
        step: int,
        steps: int,
        loss_sum: int,
        count: int,
        correct: int,
        ms: int,
        warning: str,
    ) -> None: ...
    @property
    def loss(self) -> float | None: ...
    @property
    def seconds(self) -> float: ...
    @property
    def accuracy(self) -> float | None: ...

class Steps:
    def __init__(self, model: Model, engine: Any, placed: int) -> None: ...
    def __iter__(self) -> Steps: ...
    def __next__(self) -> Step: ...
    def mean(self, ms: int) -> int: ...
    def close(self) -> None: ...
