"""A call that comes into another one is refused in a sentence and changes nothing.

From a signal (CPython's timer), from a profile hook at any call, from a second thread, from
callbacks of the user; on MicroPython: reentrancy_on_board.py.
"""

import json
import pathlib
import signal
import sys
import threading

import pytest
import small

import microzo
from microzo_host.board import emulator, push
from microzo_host.board import info as board_info

BOARD = board_info.BoardInfo("", "micropython", (1, 25, 0), "armv7emsp", "6.3", 0, "absent")
RECIPES = ("spsa", "tail", "realign", "node", "entropy", "head", "forward_only")
SENTENCE = "the model is busy with another call: wait for it, predict between steps, or load"
SAMPLE = bytes(range(144))


def calls(model, trainer, data, folder):
    """{name: a call that would change the model, its arena or the run}."""
    steps = []

    def resumed():
        if not steps:
            steps.append(trainer.run(data))
        next(steps[0])

    return {
        "predict": lambda: model.predict(SAMPLE),
        "loss": lambda: model.loss(SAMPLE, 1),
        "evaluate": lambda: model.evaluate(data, 3),
        "input": lambda: model.input(SAMPLE),
        "forward": lambda: model.forward(),
        "reset": lambda: model.reset(),
        "save": lambda: model.save(str(folder / "saved")),
        "run": resumed,
        "step": lambda: trainer.step(SAMPLE, 1),
        "other": lambda: microzo.Trainer(model, "head").run(data),
        "find_step": lambda: microzo.Trainer(model, "spsa").find_step(data),
        "replay": lambda: microzo.replay(model, str(folder / "whole")),
    }


def refused(call):
    """True if the call was refused because another one had not ended."""
    try:
        call()
    except ValueError as error:
        return str(error).startswith(SENTENCE)
    return False


@pytest.fixture
def whole(model_path, data, tmp_path):
    """Of a recipe: the state of a run that nothing disturbs, its journal in tmp_path / "whole"."""

    def run(recipe):
        model = microzo.load(model_path)
        small.train(model, data, small.short(recipe), journal=str(tmp_path / "whole"))
        return bytes(model.state)

    return run


@pytest.mark.parametrize("recipe", RECIPES)
def test_from_a_profile_hook(recipe, whole, model_path, data, tmp_path):
    """All calls, one after the other, from whatever the engine calls."""
    state = whole(recipe)
    model = microzo.load(model_path)
    trainer = microzo.Trainer(model, small.short(recipe), journal=str(tmp_path / "cut"))
    steps = trainer.run(data)
    every = list(calls(model, trainer, data, tmp_path).items())
    counts, passed, inside = dict.fromkeys(dict(every), 0), [], [0]

    def hook(frame, event, _):
        if event != "call" or not inside[0] or not frame.f_code.co_filename.count("methods/"):
            return
        inside[0] += 1
        if inside[0] % 7:
            return
        name, call = every[inside[0] // 7 % len(every)]
        counts[name] += 1
        if not refused(call):
            passed.append(name)

    advance = trainer._engine.advance

    def advanced():
        inside[0] = inside[0] or 1
        sys.setprofile(hook)
        try:
            return advance()
        finally:
            sys.setprofile(None)

    trainer._engine.advance = advanced
    for _ in steps:
        pass
    assert passed == []
    assert sum(counts.values()) >= 2 and not (tmp_path / "saved").exists()
    assert bytes(model.state) == state
    assert (tmp_path / "cut").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("recipe", RECIPES)
def test_from_a_timer(recipe, whole, model_path, data, tmp_path):
    state = whole(recipe)
    model = microzo.load(model_path)
    trainer = microzo.Trainer(model, small.short(recipe), journal=str(tmp_path / "cut"))
    steps = trainer.run(data)
    answers = []
    before = signal.signal(
        signal.SIGALRM, lambda *_: answers.append(refused(lambda: model.predict(SAMPLE)))
    )
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    try:
        for _ in steps:
            pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert True in answers  # between two steps a call is allowed, and does no harm
    assert bytes(model.state) == state
    assert (tmp_path / "cut").read_bytes() == (tmp_path / "whole").read_bytes()


def test_from_a_second_thread(whole, model_path, data, tmp_path):
    """Whichever call comes second is refused; a step that was refused is asked for again."""
    state = whole("spsa")
    model = microzo.load(model_path)
    trainer = microzo.Trainer(model, small.short("spsa"), journal=str(tmp_path / "cut"))
    steps = trainer.run(data)
    answers = []

    def other():
        answers.append(refused(lambda: model.predict(SAMPLE)))

    advance = trainer._engine.advance

    def advanced():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        return advance()

    trainer._engine.advance = advanced

    def second(*_):
        """A step that another thread asks for while this one measures."""
        thread = threading.Thread(target=lambda: answers.append(refused(lambda: next(steps))))
        thread.start()
        thread.join()

    while next(steps, None) is not None:
        model.evaluate(data, 1, second)
    assert len(answers) > 12 and all(answers)
    assert bytes(model.state) == state
    assert (tmp_path / "cut").read_bytes() == (tmp_path / "whole").read_bytes()


class Curious:
    """A data source that calls the model when it is read."""

    def __init__(self, data, call):
        self._data, self._call, self.answers = data, call, []

    def __len__(self):
        return len(self._data)

    def read_into(self, i, buf):
        self.answers.append(refused(self._call))
        return self._data.read_into(i, buf)


def test_from_a_data_source_and_from_the_progress(model, data):
    expected = model.evaluate(data, 12)
    source = Curious(data, lambda: model.predict(SAMPLE))
    answers = []
    measured = model.evaluate(
        source, 12, lambda *_: answers.append(refused(lambda: model.evaluate(data, 1)))
    )
    assert answers == source.answers == [True] * 12
    assert (measured.correct, measured.loss) == (expected.correct, expected.loss)


def test_from_the_progress_of_another_models_evaluation(model_path, data):
    """Another model is free: its calls are not refused, and the run ends in the same bits."""
    other = microzo.load(model_path)
    states = []
    for look in (False, True):
        model = microzo.load(model_path)
        steps = microzo.Trainer(model, small.short("spsa")).run(data)
        if look:
            other.evaluate(data, 4, lambda *_, steps=steps: next(steps))
        for _ in steps:
            pass
        states.append(bytes(model.state))
    assert states[0] == states[1]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, MemoryError, SystemExit])
def test_a_failed_call_leaves_the_model_free(error, model, data, monkeypatch):
    expected = model.predict(SAMPLE), list(model.logits())

    def fail(*_):
        raise error

    trainer = microzo.Trainer(model, small.short("spsa"))
    steps = trainer.run(data)
    next(steps)
    for name, use in (
        ("forward", lambda: model.predict(SAMPLE)),
        ("loss", lambda: model.evaluate(data)),
        ("probe", lambda: next(steps)),
        ("export_weights", lambda: model.save("nowhere")),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(model.k, name, fail)
            with pytest.raises(error):
                use()
        model.predict(SAMPLE)
    model.reset()
    assert (model.predict(SAMPLE), list(model.logits())) == expected


def test_ctrl_c_before_any_bytecode_leaves_the_model_free(model):
    def work(model, argument):
        for _ in range(3):
            argument += 1
        return argument

    code = type(model).exclusive.__code__
    for stop in range(1, 400):
        count = [0]

        def local(frame, event, _, count=count, stop=stop):
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
            if event == "opcode":
                count[0] += 1
                if count[0] == stop:
                    raise KeyboardInterrupt
            return local

        def start(frame, event, _, local=local):
            return local(frame, event, _) if frame.f_code in (code, work.__code__) else None

        sys.settrace(start)
        try:
            ended = model.exclusive(work, 1) == 4
        except KeyboardInterrupt:
            ended = False
        finally:
            sys.settrace(None)
        model.predict(SAMPLE)
        if ended:
            assert count[0] > 30
            return
    pytest.fail("the call never ended")


def test_another_trainer_or_a_reset_ends_a_run(model, data):
    """Its next step would change the state of the other one."""
    for change in (
        model.reset,
        lambda: next(microzo.Trainer(model, "head").run(data)),
        lambda: microzo.Trainer(model, "spsa").find_step(data),
    ):
        model.reset()
        trainer = microzo.Trainer(model, small.short("spsa"))
        steps = trainer.run(data)
        next(steps)
        change()
        state = bytes(model.state)
        for again in (steps, trainer.run(data)):
            with pytest.raises(ValueError, match="reset, or another trainer.*make a new trainer"):
                next(again)
        assert bytes(model.state) == state


def test_another_trainer_ends_live_samples(model, data):
    trainer = microzo.Trainer(model, "spsa")
    trainer.step(SAMPLE, 1)
    next(microzo.Trainer(model, "head").run(data))
    with pytest.raises(ValueError, match="reset, or another trainer.*make a new trainer"):
        trainer.step(SAMPLE, 1)


SCRIPT = pathlib.Path(__file__).with_name("reentrancy_on_board.py")
ON_BOARD = ("spsa", "tail", "realign")


@pytest.fixture
def recipes(tmp_path):
    path = tmp_path / "recipes.json"
    path.write_text(json.dumps([small.short(name) for name in ON_BOARD]))
    return path


def check(told, model_path, data):
    """The lines of reentrancy_on_board.py."""
    lines = [json.loads(line) for line in told.splitlines() if line.startswith("[")]
    assert [line[0] for line in lines] == list(ON_BOARD), told
    for recipe, refusals, others, crc, sentence in lines:
        model = microzo.load(model_path)
        small.train(model, data, small.short(recipe))
        assert crc == small.state_crc(model), recipe
        assert refusals > 10 and others == 0 and sentence.startswith(SENTENCE), (recipe, sentence)


@pytest.mark.slow
def test_on_the_unix_port(model_path, data_paths, data, recipes):
    unix = emulator.Unix(True, path=[push.ROOT / "device"], heap="8M")
    check(unix.run(SCRIPT, model_path, *data_paths, recipes, timeout=300), model_path, data)


@pytest.mark.slow
def test_on_a_board(model_path, data_paths, data, recipes, new_board):
    """Stock firmware, the native module, compiled package: what a user of a bought board has."""
    plan, _ = push.plan_files(BOARD, [])
    names = ("m.safetensors", "x.npy", "y.npy", "r.json")
    paths = map(pathlib.Path, (model_path, *data_paths, recipes))
    board = new_board(ram="256K", fs={**dict(plan), **dict(zip(names, paths, strict=True))})
    code = f"import sys\nsys.argv[:] = {['', *names]!r}\n" + SCRIPT.read_text()
    check(board.exec(code, timeout=300), model_path, data)
