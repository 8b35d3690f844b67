"""An exception between any two lines of the engine: the run that goes on ends in the same bits."""

import sys

import pytest
import small

import microzo
from microzo.train import engine, position, replay, store

FILES = {module.__file__ for module in (engine, position, replay, store)}


class Stop(KeyboardInterrupt):
    pass


class Lines:
    """Counts the lines of FILES that run inside `with`; raises Stop before line `stop`, once."""

    def __init__(self, stop=0):
        self.count = 0
        self._stop = stop

    def __enter__(self):
        self._before = sys.gettrace()
        sys.settrace(self._call)
        return self

    def __exit__(self, *_):
        sys.settrace(self._before)

    def _call(self, frame, event, _):
        return self._line if frame.f_code.co_filename in FILES else None

    def _line(self, frame, event, _):
        if event == "line":
            self.count += 1
            if self.count == self._stop:
                sys.settrace(self._before)
                raise Stop
        return self._line


def recipe():
    """A stage that no guard looks at, one that is rolled back, one more without a guard."""
    made = small.short("forward_only", samples=8)
    realign, refilter, spsa = made["stages"]
    harm = dict(spsa, steps=2, shift=-8, first_shift=-8, clip=127)
    made["stages"] = [dict(realign, guard=""), harm, dict(spsa, steps=2, guard="")]
    return made


@pytest.mark.parametrize(("journalled", "stride"), [(True, 3), (False, 1)])
def test_interrupted_before_any_line(journalled, stride, tmp_path, model_path, data):
    whole = microzo.load(model_path)
    trainer = microzo.Trainer(whole, recipe(), journal=str(tmp_path / "0") if journalled else None)
    with Lines() as lines:
        for _ in trainer.run(data):
            pass
    outcomes = trainer.outcomes()
    assert "rolled back" in outcomes[1] and lines.count > 200
    for stop in range(1, lines.count + 1, stride):
        model = microzo.load(model_path)
        path = str(tmp_path / str(stop)) if journalled else None
        trainer = microzo.Trainer(model, recipe(), journal=path)
        with pytest.raises(Stop), Lines(stop):
            for _ in trainer.run(data):
                pass
        for _ in trainer.run(data):
            pass
        assert bytes(model.state) == bytes(whole.state), stop
        assert trainer.outcomes() == outcomes, stop
        if journalled:
            assert microzo.replay(microzo.load(model_path), path) is True, stop
