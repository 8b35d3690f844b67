"""Types of what Trainer.step gives."""

class LiveStep:
    stage: str
    steps: int
    warning: str
    answer: int
    loss: float | None
    accuracy: float | None
    learned: bool
    def __init__(
        self,
        now: tuple[str, int, str],
        answer: int,
        loss: float | None,
        accuracy: float | None,
        count: tuple[int, int],
        learned: bool,
    ) -> None: ...
    @property
    def missing(self) -> int: ...
    def __float__(self) -> float: ...
    def __lt__(self, other: float | LiveStep) -> bool: ...
    def __le__(self, other: float | LiveStep) -> bool: ...
    def __gt__(self, other: float | LiveStep) -> bool: ...
    def __ge__(self, other: float | LiveStep) -> bool: ...
