"""Files that are replaced: a power cut, an error or a full disk leaves the old one or the new one.

Random cuts of whole runs: tests/fuzz/test_cuts.py.
"""

import errno
import os
import pathlib

import pytest
import small

import microzo
from microzo.board import files
from microzo.journal import file as journals
from microzo.journal import record, writer
from microzo_host.board.emulator import Unix

HERE = pathlib.Path(__file__).parent


@pytest.fixture
def journal(tmp_path, model_path, data):
    """Of a run of some steps; its offset after them, behind which a torn record lies."""
    path = str(tmp_path / "run")
    trainer = microzo.Trainer(microzo.load(model_path), small.short("spsa"), journal=path)
    for _ in zip(range(3), trainer.run(data)):
        pass
    end = os.path.getsize(path)
    with open(path, "ab") as f:
        f.write(b"\x07\0\x06\0torn")
    return path, end


@pytest.mark.parametrize("fs", ("FAT", "LFS"))
def test_a_cut_at_every_write_of_a_block(fs, model_path, journal):
    path, end = journal
    unix = Unix(usermod=True, heap="32M", path=[HERE.parents[1] / "device"])
    lines = unix.run(HERE / "every_cut.py", fs, model_path, path, end).splitlines()[-3:]
    cuts = {line.split()[0]: [int(n) for n in line.split()[1:]] for line in lines}
    assert set(cuts) == {"save", "checkpoint", "cut"}
    for number, olds in cuts.values():
        assert number >= 3 and 0 < olds <= number  # there were cuts before and after the change


def test_an_error_of_the_rename_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(*_):
        raise OSError(errno.EIO, "EIO")

    monkeypatch.setattr(os, "replace", fail)
    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(OSError, match="EIO"):
        files.write_whole(str(path), [b"new"])
    assert path.read_bytes() == b"old"


def test_bytes_and_name_are_on_the_medium_before_and_after_the_rename(tmp_path, monkeypatch):
    """What is synced when a file takes its name, by the numbers of their inodes."""
    log, theirs, rename = [], os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda n: (log.append(os.fstat(n).st_ino), theirs(n)))
    monkeypatch.setattr(os, "replace", lambda *names: (log.append("renamed"), rename(*names)))
    path = tmp_path / "file"
    files.write_whole(str(path), [b"new"])
    assert log == [path.stat().st_ino, "renamed", tmp_path.stat().st_ino]


def test_a_journal_whose_copy_was_cut_is_found_again(tmp_path, model_path, data, journal):
    """FAT: the old file is gone, the whole new one has its temporary name yet."""
    path, end = journal
    raw = pathlib.Path(path).read_bytes()
    for rest in (None, b"", raw[:60]):
        pathlib.Path(path).unlink(missing_ok=True)
        if rest is not None:
            pathlib.Path(path).write_bytes(rest)
        pathlib.Path(path + ".tmp").write_bytes(raw[:end])
        with pytest.raises(ValueError, match="exists"):
            microzo.Trainer(microzo.load(model_path), "spsa", journal=path)
        assert pathlib.Path(path).read_bytes() == raw[:end]
        assert not os.path.exists(path + ".tmp")
    assert microzo.replay(microzo.load(model_path), path, data) is None


def test_a_temporary_file_that_is_older_or_torn_is_dropped(tmp_path, model_path, journal):
    path, end = journal
    raw = pathlib.Path(path).read_bytes()
    for other in (raw[: end - 5], raw[:40], b""):
        pathlib.Path(path + ".tmp").write_bytes(other)
        journals.Reader(microzo.kernels(), path).close()
        assert pathlib.Path(path).read_bytes() == raw
        assert not os.path.exists(path + ".tmp")


def test_a_model_is_found_under_its_temporary_name(tmp_path, model_path):
    raw = pathlib.Path(model_path).read_bytes()
    path = tmp_path / "m"
    (tmp_path / "m.tmp").write_bytes(raw[:-1])
    with pytest.raises(OSError, match="cannot open"):
        microzo.load(str(path))
    assert not list(tmp_path.glob("m*"))
    (tmp_path / "m.tmp").write_bytes(raw)
    microzo.load(str(path))
    assert path.read_bytes() == raw
    (tmp_path / "m.tmp").write_bytes(raw)
    path.write_bytes(raw[:99])  # FAT: a cut while it was copied
    microzo.load(str(path)).save(str(path))
    assert path.read_bytes() == raw
    assert [p.name for p in tmp_path.glob("m*")] == ["m"]


def test_what_an_interrupted_checkpoint_left_goes(tmp_path, model_path, data, journal):
    path, _ = journal
    for name in (".ck0.tmp", ".ck1.tmp", ".mark.tmp", ".tmp"):
        pathlib.Path(path + name).write_bytes(b"half of it")
    for _ in microzo.resume(microzo.load(model_path), path).run(data):
        pass
    assert not list(tmp_path.glob("*.tmp"))


def test_a_new_run_takes_nothing_of_an_old_one(tmp_path, model_path, data, journal):
    path, _ = journal
    os.remove(path)
    for name in (".ck0", ".ck0.tmp", ".mark.tmp"):
        pathlib.Path(path + name).write_bytes(b"old")
    small.train(microzo.load(model_path), data, small.short("spsa"), journal=path)
    assert not list(tmp_path.glob("*.tmp"))


class Full:
    """open() that lets no more than `room` bytes be written to a file with one of `names`."""

    def __init__(self, room, *names):
        self.left, self._names = room, names

    def __call__(self, path, mode="r", *more, **options):
        f = open(path, mode, *more, **options)  # noqa: SIM115
        if "r" in mode or not str(path).endswith(self._names):
            return f
        write = f.write

        def limited(data):
            self.left -= len(memoryview(data).tobytes())
            if self.left < 0:
                raise OSError(errno.ENOSPC, "no space left on device")
            return write(data)

        class File:
            def __getattr__(self, name):
                return limited if name == "write" else getattr(f, name)

            def __enter__(self):
                return self

            def __exit__(self, *_):
                f.close()

        return File()


def test_training_goes_on_without_a_checkpoint(tmp_path, model_path, data, monkeypatch, capsys):
    whole = microzo.load(model_path)
    small.train(whole, data, small.short("default"), journal=str(tmp_path / "whole"))
    capsys.readouterr()
    monkeypatch.setattr(files, "open", Full(0, ".mark.tmp", ".ck0.tmp", ".ck1.tmp"), raising=False)
    model, path = microzo.load(model_path), tmp_path / "run"
    small.train(model, data, small.short("default"), journal=str(path), checkpoint_every=1)
    assert bytes(model.state) == bytes(whole.state)
    assert path.read_bytes() == (tmp_path / "whole").read_bytes()
    assert [p.name for p in tmp_path.glob("run*")] == ["run"]
    warnings = [text for text in capsys.readouterr().err.splitlines() if "checkpoint" in text]
    assert len(warnings) == 1 and "no room" in warnings[0]


def test_a_full_disk_stops_the_run_which_goes_on_later(tmp_path, model_path, data, monkeypatch):
    whole = microzo.load(model_path)
    small.train(whole, data, small.short("default"), journal=str(tmp_path / "whole"))
    recipe = small.records(str(tmp_path / "whole"), record.RECIPE)[0]
    size = (tmp_path / "whole").stat().st_size - journals.HEADER_LEN - len(recipe)
    for room in range(0, size, size // 12):
        model, path = microzo.load(model_path), str(tmp_path / f"run{room}")
        full = Full(room, f"run{room}")
        monkeypatch.setattr(writer, "open", full, raising=False)
        trainer = microzo.Trainer(model, small.short("default"), journal=path)
        with pytest.raises(OSError, match="make room") as error:
            for _ in trainer.run(data):
                pass
        assert "\n" not in str(error.value)
        monkeypatch.undo()
        if room % 2:  # the same object, or another start
            model = microzo.load(model_path)
            trainer = microzo.resume(model, path)
        for _ in trainer.run(data):
            pass
        assert bytes(model.state) == bytes(whole.state)
        assert pathlib.Path(path).read_bytes() == (tmp_path / "whole").read_bytes()
