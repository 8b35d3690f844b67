"""The README's commands and code run as they are written."""

import os
import re
import shutil
import subprocess
import sys

import job
import pytest

from microzo_host.board import push

README = push.ROOT / "README.md"


def blocks(language):
    """Code blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", README.read_text(), re.M | re.S)


@pytest.fixture(scope="module")
def place(builds, tmp_path_factory):
    """A folder as a user's: model, data, and the commands on PATH."""
    folder = tmp_path_factory.mktemp("readme")
    made = job.files(folder)
    for name, path in made.case.files.items():
        shutil.copy(path, folder / name)
    (folder / "device").symlink_to(push.ROOT / "device")
    return folder


def environment(folder):
    """Variables in which `microzo` and `mpremote` are commands."""
    tools = folder / "bin"
    tools.mkdir(exist_ok=True)
    for name, module in (("microzo", "microzo_host.cli"), ("mpremote", "mpremote")):
        script = tools / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
        script.chmod(0o755)
    return {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}


def test_python_runs_as_written(place):
    code = blocks("python")[0].replace("print(step)", "pass")
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=place, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "% of" in done.stdout
    (place / "adapted.safetensors").unlink()


def test_commands_for_a_board_run_as_written(place, new_board):
    board = new_board()
    commands = [
        line.split(" #")[0].strip()
        for block in blocks("sh")
        for line in block.splitlines()
        if line.startswith(("microzo", "mpremote"))
    ]
    assert any(line.startswith("microzo push") for line in commands)
    for line in commands:
        line = line.replace(" auto ", f" {board.port} ")
        line = line.replace("mpremote run", f"mpremote connect {board.port} run")
        done = subprocess.run(
            line, shell=True, cwd=place, env=environment(place), capture_output=True, text=True,
            timeout=400,
        )  # fmt: skip
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    assert "journal replay: identical" in done.stdout


def test_a_lab_without_a_board(place, tmp_path):
    command = "python device/examples/train.py"
    assert f"`.venv/bin/{command}`" in README.read_text()
    for path in place.glob("*.npy"):
        shutil.copy(path, tmp_path)
    shutil.copy(place / "model.safetensors", tmp_path)
    (tmp_path / "settings.json").write_text('{"recipe": "realign"}')
    script = push.ROOT / command.split()[1]
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"^RESULT .*\"recipe\": \"realign\"", done.stdout, re.M)
    assert (tmp_path / "adapted.safetensors").is_file()


def test_make_targets_exist():
    targets = set(re.findall(r"^([a-z-]+):", (push.ROOT / "Makefile").read_text(), re.M))
    for name in re.findall(r"(?:^|`)make ([a-z-]+)", README.read_text(), re.M):
        assert name in targets, f"make {name}"
