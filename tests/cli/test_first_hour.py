"""What a newcomer meets on the PC: boards that run, a plan's verdict, one line of a push."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from microzo_host import cli
from microzo_host.board import disk_image, errors, link, running
from microzo_host.cli import push as push_command
from microzo_host.demo import disk as demo_disk


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(link, "ports", lambda: [])
    return tmp_path


def run(*args):
    return CliRunner().invoke(cli.main, list(args))


def test_version():
    assert run("--version").output.startswith("microzo, version 0.")


def test_a_running_board_is_found(tmp_path):
    port = tmp_path / "port"
    port.touch()
    with running.told(str(port), "m4, 256K"):
        assert link.find_port("auto") == str(port)
        text = run("boards").output
        assert f"{port}  emulated board that runs (m4, 256K)" in text
    with pytest.raises(errors.LinkError, match="make board"):
        link.find_port("auto")


def test_two_boards_are_told_apart(tmp_path):
    folder = running.folder()
    for name in "ab":
        (tmp_path / name).touch()
    with running.told(str(tmp_path / "a"), "m4"):
        other = {"port": str(tmp_path / "b"), "name": "m3", "pid": os.getppid()}
        (folder / "1.json").write_text(json.dumps(other))
        with pytest.raises(errors.LinkError, match="2 boards found: choose one of"):
            link.find_port("auto")


@pytest.mark.parametrize("content", ["", "{}", '{"port": "/dev/null", "name": "x", "pid": %d}'])
def test_what_a_dead_emulator_left_is_no_board(content):
    running.folder().mkdir(parents=True)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    (running.folder() / "1.json").write_text(content % dead.pid if "%d" in content else content)
    assert running.boards() == []


def test_the_disk_at_hand_keeps_the_files_of_its_user(tmp_path, monkeypatch):
    monkeypatch.setattr(demo_disk, "FOLDER", tmp_path)
    package = {"/lib/microzo/a.mpy": b"1", "/lib/_microzo.mpy": b"m"}
    monkeypatch.setattr(demo_disk, "_package", lambda core: package)
    monkeypatch.setattr(demo_disk, "_demo", lambda: {"model.safetensors": b"demo"})
    path = demo_disk.at_hand("m4", "256K")
    files = disk_image.files(path)
    assert files == {
        "lib/microzo/a.mpy": b"1", "lib/_microzo.mpy": b"m", "model.safetensors": b"demo",
    }  # fmt: skip
    path.write_bytes(disk_image.make(files | {"mine.txt": b"kept", "lib/microzo/old.mpy": b"0"}))
    package["/lib/microzo/a.mpy"] = b"2"
    assert disk_image.files(demo_disk.at_hand("m4", "256K")) == {
        "lib/microzo/a.mpy": b"2", "lib/_microzo.mpy": b"m", "model.safetensors": b"demo",
        "mine.txt": b"kept",
    }  # fmt: skip
    assert "mine.txt" not in disk_image.files(demo_disk.at_hand("m4", "256K", fresh=True))


def test_plan_begins_with_a_verdict(model_path):
    lines = run("plan", model_path, "--recipe", "head").output.splitlines()
    assert lines[0].startswith("fits: peak RAM ") and " of 256 KB (assumed: --ram" in lines[0]
    assert len(lines) < 12
    result = run("plan", model_path, "--recipe", "head", "--ram", "64K")
    assert result.exit_code == 1 and result.output.startswith("does not fit in 64 KB\n")
    assert "(assumed" not in result.output


def test_plan_into_head(model_path):
    """A reader that goes away early is no error."""
    code = (
        "import os, sys\nfrom microzo_host import cli\nread, write = os.pipe()\nos.close(read)\n"
        f"os.dup2(write, 1)\ncli.main(['plan', {str(model_path)!r}])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == ""


def test_a_push_ends_in_one_line():
    def entry(what, size=10):
        return {"file": "f", "bytes": size, "what": what}

    assert push_command._summary([entry("unchanged")] * 3) == (
        "all 3 files are on the board, unchanged"
    )
    assert push_command._summary([entry("copied", 2000), entry("resumed")]) == (
        "2 files copied and verified (2,010 bytes)"
    )
    assert push_command._summary([entry("copied"), entry("unchanged")]).endswith(", 1 unchanged")


@pytest.mark.parametrize("command", ["eval", "plan", "quantize"])
def test_foreign_models_are_sent_to_import(command, tmp_path, data_paths):
    path = tmp_path / "net.onnx"
    path.touch()
    arguments = {
        "eval": [str(path), *data_paths], "plan": [str(path)],
        "quantize": [str(path), data_paths[0], "-o", str(tmp_path / "out")],
    }  # fmt: skip
    result = run(command, *arguments[command])
    assert result.exit_code == 1 and "microzo import" in result.output
