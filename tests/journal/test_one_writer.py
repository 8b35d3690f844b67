"""A journal has one writer: who resumes takes it from an object that still has it open."""

import gc
import os
import pathlib

import pytest
import small

import microzo
from microzo_host.board.emulator import Unix

HERE = pathlib.Path(__file__).parent


def begun(path, model_path, data, steps, **options):
    """(trainer, its steps) of a run that was left after some of them."""
    trainer = microzo.Trainer(
        microzo.load(model_path), small.short("spsa"), journal=path, **options
    )
    run = trainer.run(data)
    for _ in zip(range(steps), run):
        pass
    return trainer, run


@pytest.mark.parametrize("sync_every", (1, 3, 50))
@pytest.mark.parametrize("steps", (1, 4))
@pytest.mark.parametrize("spelling", ("%s", "./%s", "folder/../%s"))
def test_nothing_comes_behind_the_end(
    steps, sync_every, spelling, tmp_path, model_path, data, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    trainer, run = begun("run", model_path, data, steps, sync_every=sync_every)
    model = microzo.load(model_path)
    for _ in microzo.resume(model, spelling % "run").run(data):
        pass
    content = (tmp_path / "run").read_bytes()
    with pytest.raises(ValueError, match="another Trainer goes on"):
        next(run)
    with pytest.raises(ValueError, match="another Trainer goes on"):
        list(trainer.run(data))
    del trainer, run
    gc.collect()
    assert (tmp_path / "run").read_bytes() == content
    assert microzo.replay(microzo.load(model_path), "run") is True


def test_what_the_first_has_not_flushed_is_not_lost(tmp_path, model_path, data):
    path = str(tmp_path / "run")
    first = begun(path, model_path, data, 4, sync_every=50)
    steps = microzo.resume(microzo.load(model_path), path).run(data)
    assert next(steps).step == 5
    del first


def test_a_new_run_under_the_same_name_takes_it_as_well(tmp_path, model_path, data):
    path = str(tmp_path / "run")
    first = begun(path, model_path, data, 4, sync_every=50)
    os.remove(path)
    small.train(microzo.load(model_path), data, small.short("spsa"), journal=path)
    content = pathlib.Path(path).read_bytes()
    del first
    gc.collect()
    assert pathlib.Path(path).read_bytes() == content


def test_other_journals_stay_open(tmp_path, model_path, data):
    first, run = begun(str(tmp_path / "first"), model_path, data, 2)
    small.train(
        microzo.load(model_path), data, small.short("spsa"), journal=str(tmp_path / "other")
    )
    for _ in run:
        pass
    assert first.finished


@pytest.mark.parametrize("fs", ("FAT", "LFS"))
def test_on_the_file_systems_of_boards(fs, model_path, data_paths):
    unix = Unix(usermod=True, heap="32M", path=[HERE.parents[1] / "device"])
    script = HERE / "stale_writer.py"
    assert unix.run(script, fs, model_path, *data_paths).splitlines()[-1] == "same"
