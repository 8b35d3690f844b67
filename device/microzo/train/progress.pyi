"""Types of what Trainer.run yields."""

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
