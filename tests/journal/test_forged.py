"""Forged journals, their check sums right: one sentence, and no memory for lengths that lie.

Thousands of mutants, on CPython and MicroPython: tests/fuzz/test_mutants.py.
"""

import json
import os
import pathlib

import journal_parts
import pytest
import small

import microzo
from microzo_host.board.emulator import Unix

HERE = pathlib.Path(__file__).parent


@pytest.fixture(scope="module")
def journals(tmp_path_factory, model_path, data_paths):
    """{recipe: bytes of a journal of it}."""
    data = microzo.Dataset(*data_paths)
    folder, raws = tmp_path_factory.mktemp("journals"), {}
    for name in ("forward_only", "default", "node"):
        path = folder / name
        small.train(
            microzo.load(model_path), data, small.short(name, samples=12), journal=str(path)
        )
        raws[name] = path.read_bytes()
    return raws


def refusals(tmp_path, model_path, data, raw):
    """The sentences that replay, with and without the data, and resume end in."""
    path = tmp_path / "forged"
    texts = []
    for use in (
        lambda: microzo.replay(microzo.load(model_path), str(path)),
        lambda: microzo.replay(microzo.load(model_path), str(path), data),
        lambda: list(microzo.resume(microzo.load(model_path), str(path)).run(data)),
    ):
        path.write_bytes(raw)
        with pytest.raises(ValueError) as error:
            use()
        texts.append(str(error.value))
    assert all("\n" not in text and len(text) < 600 for text in texts)
    return texts


PROGRAMS = {
    "no object": lambda p: [],
    "samples": lambda p: dict(p, samples=1 << 40),
    "no samples": lambda p: {key: p[key] for key in p if key != "samples"},
    "train": lambda p: dict(p, train=p["samples"] + 1),
    "no stages": lambda p: dict(p, stages=[]),
    "stages": lambda p: dict(p, stages={"kind": "spsa"}),
    "a stage": lambda p: dict(p, stages=["spsa"]),
    "notes": lambda p: dict(p, notes=[["x"]]),
    "an escape": lambda p: dict(p, recipe="\x1b[2J"),
}
SPECS = {
    "kind": {"kind": "../spsa"}, "no kind": {"kind": None}, "steps": {"steps": 0},
    "ops": {"ops": [99]}, "twice": {"ops": [1, 1]}, "a text": {"ops": "all"},
    "float": {"ops": [1.0]}, "batch": {"batch": 0}, "wide": {"wide": 2}, "unknown": {"x": 1},
    "long": {"guard": "x" * 9000}, "shift": {"head_shift": 1 << 70}, "clip": {"clip": -1},
}  # fmt: skip


@pytest.mark.parametrize("what", PROGRAMS)
def test_a_program_is_checked(what, journals, tmp_path, model_path, data):
    header, records = journal_parts.split(journals["forward_only"])
    program = PROGRAMS[what](json.loads(bytes(records[0][12:])))
    records[0][12:] = json.dumps(program).encode()
    for text in refusals(tmp_path, model_path, data, journal_parts.join(header, records)):
        assert "its RECIPE holds no program" in text


@pytest.mark.parametrize("recipe", ("forward_only", "default", "node"))
@pytest.mark.parametrize("what", SPECS)
def test_the_settings_of_a_stage_are_checked(what, recipe, journals, tmp_path, model_path, data):
    header, records = journal_parts.split(journals[recipe])
    program = json.loads(bytes(records[0][12:]))
    program["stages"][-1].update(SPECS[what])
    records[0][12:] = json.dumps(program).encode()
    for text in refusals(tmp_path, model_path, data, journal_parts.join(header, records)):
        assert "its RECIPE holds no program" in text


def test_deep_brackets_are_a_sentence(journals, tmp_path, model_path, data):
    header, records = journal_parts.split(journals["forward_only"])
    records[0][12:] = b"[" * 60000
    refusals(tmp_path, model_path, data, journal_parts.join(header, records))


@pytest.mark.parametrize("at, value", ((32, 7), (36, 7)))
def test_the_header_must_suit_its_recipe(at, value, journals, tmp_path, model_path, data):
    header, records = journal_parts.split(journals["forward_only"])
    header[at] ^= value
    raw = journal_parts.join(header, records, repair_recipe=False)
    for text in refusals(tmp_path, model_path, data, raw):
        assert "damaged" in text


def test_a_torn_length_takes_no_memory(journals, tmp_path, model_path):
    path = tmp_path / "torn"
    path.write_bytes(journals["forward_only"] + bytes((7, 0, 255, 255)) + bytes(40))
    script = f"""
import gc, microzo
from microzo.journal.file import Reader
reader = Reader(microzo.kernels(), {str(path)!r})
gc.collect()
gc.threshold(-1)
while reader.end < {os.path.getsize(path) - 44}:
    reader.next()
gc.collect()
before = gc.mem_alloc()
assert reader.next() is None
print(gc.mem_alloc() - before)
"""
    unix = Unix(usermod=True, heap="8M", path=[HERE.parents[1] / "device"])
    assert int(unix.run(script.encode())) < 2000
