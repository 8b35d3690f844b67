"""The journal: replay gives the same bits; cut anywhere, the run resumes to the same bits."""

import json
import os
import random
import shutil

import pytest
import small

import microzo
from microzo.journal import file as journals
from microzo.journal import record
from microzo_host.plan import work

RECIPES = (
    "realign refilter head tail spsa elastic entropy qzo-ff zoqo scales node channel pmt "
    "forward_only default"
).split()


def run(path, model_path, data, name, **options):
    model = microzo.load(model_path)
    small.train(model, data, small.short(name), journal=path, **options)
    return bytes(model.state)


@pytest.mark.parametrize("name", RECIPES)
def test_replay_is_identical(name, tmp_path, model_path, data):
    path = str(tmp_path / "run.jrn")
    state = run(path, model_path, data, name)
    plain = microzo.load(model_path)
    small.train(plain, data, small.short(name))
    assert bytes(plain.state) == state
    other = microzo.load(model_path)
    assert microzo.replay(other, path, data) is True
    assert bytes(other.state) == state


def test_zo_and_realign_replay_without_data(tmp_path, model_path, data):
    path = str(tmp_path / "run.jrn")
    state = run(path, model_path, data, "forward_only")
    model = microzo.load(model_path)
    assert microzo.replay(model, path) is True
    assert bytes(model.state) == state


def test_gradients_need_data(tmp_path, model_path, data):
    path = str(tmp_path / "run.jrn")
    run(path, model_path, data, "head")
    with pytest.raises(ValueError, match="same data"):
        microzo.replay(microzo.load(model_path), path)


def test_rollback_is_replayed(tmp_path, model_path, data):
    recipe = small.short("forward_only")
    recipe["stages"][-1].update(shift=-8, first_shift=-8, clip=127)
    model = microzo.load(model_path)
    path = str(tmp_path / "run.jrn")
    trainer = small.train(model, data, recipe, journal=path)
    assert trainer.outcomes()[-1].startswith("spsa rolled back")
    other = microzo.load(model_path)
    assert microzo.replay(other, path) is True
    assert bytes(other.state) == bytes(model.state)


def resumed(path, model_path, data, **options):
    model = microzo.load(model_path)
    trainer = microzo.resume(model, path, **options)
    for _ in trainer.run(data):
        pass
    return bytes(model.state)


@pytest.mark.slow
@pytest.mark.parametrize("name", ("default", "forward_only"))
def test_cut_at_every_byte(name, tmp_path, model_path, data):
    whole = tmp_path / "whole.jrn"
    state = run(str(whole), model_path, data, name)
    content = whole.read_bytes()
    first = microzo.load(model_path)
    reader = journals.Reader(first.k, str(whole))
    reader.next(), reader.next()
    begin = reader.end
    boundaries = set()
    while reader.next() is not None:
        boundaries.add(reader.end)
    reader.close()
    path = str(tmp_path / "cut.jrn")
    step = max(1, (len(content) - begin) // 200)
    cuts = sorted(set(range(begin, len(content), step)) | boundaries | {b - 1 for b in boundaries})
    for cut in cuts:
        with open(path, "wb") as f:
            f.write(content[:cut])
        assert resumed(path, model_path, data) == state, cut
        with open(path, "rb") as f:
            assert f.read() == content, cut


@pytest.mark.slow
def test_reader_stops_at_every_cut(tmp_path, model_path, data):
    path = tmp_path / "run.jrn"
    run(str(path), model_path, data, "default")
    content = path.read_bytes()
    k = microzo.kernels()
    ends = [journals.HEADER_LEN]
    reader = journals.Reader(k, str(path))
    while reader.next() is not None:
        ends.append(reader.end)
    reader.close()
    cut = tmp_path / "cut.jrn"
    for n in range(journals.HEADER_LEN, len(content) + 1):
        cut.write_bytes(content[:n])
        reader = journals.Reader(k, str(cut))
        while reader.next() is not None:
            pass
        assert reader.end == max(e for e in ends if e <= n)
        reader.close()


def test_header_cut_or_altered_is_refused(tmp_path, model_path, data):
    path = tmp_path / "run.jrn"
    run(str(path), model_path, data, "realign")
    content = path.read_bytes()
    for n in range(journals.HEADER_LEN):
        path.write_bytes(content[:n])
        with pytest.raises(ValueError, match="not a microzo journal"):
            microzo.replay(microzo.load(model_path), str(path))
    for n in range(journals.HEADER_LEN):
        path.write_bytes(content[:n] + bytes([content[n] ^ 1]) + content[n + 1 :])
        with pytest.raises(ValueError, match="not a microzo journal"):
            microzo.replay(microzo.load(model_path), str(path))


def test_altered_record_ends_the_replay(tmp_path, model_path, data):
    path = tmp_path / "run.jrn"
    run(str(path), model_path, data, "spsa")
    content = bytearray(path.read_bytes())
    content[-20] ^= 4
    path.write_bytes(content)
    assert microzo.replay(microzo.load(model_path), str(path)) is None


class Stop(KeyboardInterrupt):
    pass


class Interrupting:
    """Kernels that raise Stop at call number `at`, before or after the work, once."""

    def __init__(self, module, at, after):
        self._module = module
        self._left = at
        self._after = after

    def __getattr__(self, name):
        function = getattr(self._module, name)

        def call(*args):
            self._left -= 1
            if self._left == 0 and not self._after:
                raise Stop
            value = function(*args)
            if self._left == 0:
                raise Stop
            return value

        self.__dict__[name] = call
        return call


class Counting(Interrupting):
    def calls(self):
        return -self._left


def _data_calls(model_path, data, recipe, journal):
    model = microzo.load(model_path)
    model.k = counter = Counting(model.k, 0, False)
    small.train(model, data, recipe, journal=journal)
    return counter.calls(), bytes(model.state)


@pytest.mark.parametrize("name", small.marked(RECIPES))
@pytest.mark.parametrize("journalled", (True, False))
def test_interrupted_in_the_same_process(name, journalled, tmp_path, model_path, data):
    recipe = small.short(name)
    calls, state = _data_calls(model_path, data, recipe, None)
    rng = random.Random(name)
    for i in range(25):
        path = str(tmp_path / ("%d.jrn" % i)) if journalled else None
        model = microzo.load(model_path)
        honest = model.k
        model.k = Interrupting(honest, rng.randint(1, calls), rng.random() < 0.5)
        trainer = microzo.Trainer(model, recipe, journal=path, checkpoint_every=2)
        stopped = 0
        while not model.trained:
            try:
                for _ in trainer.run(data):
                    if rng.random() < 0.02:
                        raise Stop
            except Stop:
                stopped += 1
        assert stopped
        assert bytes(model.state) == state, i


@pytest.mark.slow
def test_interrupted_then_resumed_by_another_process(tmp_path, model_path, data):
    """Stops at random calls, torn last writes, several times in a run; 200 stops in all."""
    rng = random.Random(1)
    cuts = 0
    states = {}
    while cuts < 200:
        name = rng.choice(RECIPES)
        recipe = small.short(name)
        if name not in states:
            states[name] = _data_calls(model_path, data, recipe, None)
        calls, state = states[name]
        folder = tmp_path / ("run%d" % cuts)
        os.mkdir(folder)
        path = str(folder / "run.jrn")
        options = {"checkpoint_every": rng.choice((1, 2, 5)), "sync_every": rng.choice((1, 3))}
        model = None
        for attempt in range(6):
            model = microzo.load(model_path)
            if attempt < 5:
                model.k = Interrupting(model.k, rng.randint(5, calls), rng.random() < 0.5)
            try:
                if attempt == 0:
                    trainer = microzo.Trainer(model, recipe, journal=path, **options)
                else:
                    trainer = microzo.resume(model, path, **options)
                for _ in trainer.run(data):
                    pass
                break
            except Stop:
                cuts += 1
            except ValueError as e:
                assert "delete it" in str(e) or "not a microzo journal" in str(e)
                os.remove(path)
                model = None
                break
            trainer = None  # closes its journal: a process that is gone writes nothing later
            if os.path.exists(path) and rng.random() < 0.5:
                _tear(path, rng)
            if not os.path.exists(path):
                model = None
                break
        if model is not None:
            assert bytes(model.state) == state, (name, cuts)
        shutil.rmtree(folder)


def _tear(path, rng):
    """Loses some of the last bytes, or turns them to noise."""
    with open(path, "rb") as f:
        content = f.read()
    n = max(journals.HEADER_LEN, len(content) - rng.randint(1, 40))
    noise = bytes(rng.randrange(256) for _ in range(rng.choice((0, 7, 30))))
    with open(path, "wb") as f:
        f.write(content[:n] + noise)


def test_damaged_checkpoints_are_passed_over(tmp_path, model_path, data):
    path = str(tmp_path / "run.jrn")
    recipe = small.short("default")
    small_run = microzo.Trainer(microzo.load(model_path), recipe, journal=path, checkpoint_every=1)
    for step in small_run.run(data):
        if step.stage == "tail" and step.step == 3:
            break
    for end in (".ck0", ".ck1", ".mark"):
        with open(path + end, "r+b") as f:
            f.seek(60)
            f.write(b"\xff" * 9)
    plain = microzo.load(model_path)
    small.train(plain, data, recipe)
    assert resumed(path, model_path, data) == bytes(plain.state)


def test_a_journal_begins_whole_or_not_at_all(tmp_path, model_path, data):
    path = str(tmp_path / "run.jrn")
    state = run(str(tmp_path / "whole.jrn"), model_path, data, "spsa")
    at = 0
    while not os.path.exists(path):
        at += 1
        model = microzo.load(model_path)
        model.k = Interrupting(model.k, at, False)
        with pytest.raises(Stop):
            microzo.Trainer(model, small.short("spsa"), journal=path).run(data)
    assert at > 2  # header and RECIPE were sealed
    assert resumed(path, model_path, data) == state


def test_resume_takes_a_model_with_other_trainable_values(tmp_path, model_path, data):
    path = str(tmp_path / "run.jrn")
    state = run(path, model_path, data, "default")
    model = microzo.load(model_path)
    model.place([(0, 3)])
    list(microzo.resume(model, path).run(data))
    assert bytes(model.state) == state


def test_existing_journal_is_not_overwritten(tmp_path, model_path, data):
    path = str(tmp_path / "run.jrn")
    run(path, model_path, data, "realign")
    content = open(path, "rb").read()
    with pytest.raises(ValueError, match="exists"):
        microzo.Trainer(microzo.load(model_path), journal=path)
    assert open(path, "rb").read() == content


def test_other_model_and_other_data_are_refused(tmp_path, model_path, data, data_paths):
    path = str(tmp_path / "run.jrn")
    run(path, model_path, data, "head")
    changed = str(tmp_path / "changed.safetensors")
    model = microzo.load(model_path)
    small.train(model, data, small.short("realign"))
    model.save(changed)
    with pytest.raises(ValueError, match="another model"):
        microzo.replay(microzo.load(changed), path, data)
    x, y = small.arrays(model_path, 60, 8)
    with pytest.raises(ValueError, match="other data"):
        microzo.replay(microzo.load(model_path), path, microzo.ArrayData(x.tobytes(), y))


def test_finished_run_resumes_to_nothing(tmp_path, model_path, data):
    path = str(tmp_path / "run.jrn")
    state = run(path, model_path, data, "default")
    model = microzo.load(model_path)
    trainer = microzo.resume(model, path)
    assert list(trainer.run(data)) == []
    assert bytes(model.state) == state and model.trained


LENGTHS = [(name, {}) for name in RECIPES] + [
    ("spsa", {"guided": 1}),
    ("spsa", {"guard": ""}),
    ("spsa", {"share": 1}),
    ("elastic", {"antithetic": 0}),
    ("elastic", {"share": 1}),
    ("elastic", {"guided": 1, "guard": ""}),
    ("node", {"model_wise": 1}),
    ("node", {"train_head": 0}),
]


@pytest.mark.parametrize(("name", "changes"), LENGTHS, ids=str)
def test_the_plan_knows_the_length(name, changes, tmp_path, model, data):
    path = tmp_path / "run.jrn"
    recipe = small.short(name)
    recipe["stages"][-1].update(changes)
    trainer = small.train(model, data, recipe, journal=str(path))
    (text,) = small.records(str(path), record.RECIPE)
    program = json.loads(bytes(record.payload(text)))
    assert program == trainer.program
    length = work.journal_bytes(model.plan, program, len(record.payload(text)))
    assert length == path.stat().st_size


def test_zo_record_is_small(tmp_path, model_path, data):
    path = str(tmp_path / "run.jrn")
    run(path, model_path, data, "spsa")
    assert {len(rec) for rec in small.records(path, record.STEP)} == {16 + 2 * 3}
