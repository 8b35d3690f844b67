"""The `microzo` command against the emulated board, as against a bought one."""

import json
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import microzo as device
from microzo_host.board import link as board_link
from microzo_host.board import push

NATMODS = push.ROOT / "build" / "natmod"


def microzo(*args, timeout=300):
    """Run the command; (status, standard output, standard error)."""
    done = subprocess.run(
        [sys.executable, "-m", "microzo_host.cli", *map(str, args)],
        capture_output=True, text=True, timeout=timeout,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def pushed(files, tmp_path_factory):
    """A board with an empty disk to which everything was pushed; and the push's report."""
    from microzo_host.board.emulator import Board

    report = tmp_path_factory.mktemp("push") / "report.json"
    with Board() as board:
        data = [files.case.files[n] for n in ("train_x.npy", "train_y.npy")]
        status, _, error = microzo("push", board.port, files.model, *data, "--json", report)
        assert status == 0, error
        yield board, json.loads(report.read_text())


def test_push_sends_all_once(pushed, files):
    board, report = pushed
    names = {entry["file"] for entry in report["files"]}
    assert {"/lib/_microzo.mpy", "/lib/microzo/__init__.mpy", "/model.safetensors"} <= names
    assert all(entry["what"] == "copied" for entry in report["files"])
    status, text, error = microzo("push", board.port, files.model)
    assert status == 0
    assert "copied" not in text + error and "unchanged" in text + error


def test_doctor_is_content(pushed):
    board, _ = pushed
    status, text, _ = microzo("doctor", board.port)
    assert status == 0 and "nothing is missing" in text and "armv7emsp" in text


def test_eval_on_the_board_is_that_of_the_host(pushed, files, tmp_path):
    """The same accuracy and loss, and the same logits bit for bit."""
    board, _ = pushed
    test = [files.case.files[n] for n in ("test_x.npy", "test_y.npy")]
    here = microzo("eval", files.model, *test, "--logits", tmp_path / "here.npy")
    there = microzo(
        "eval", files.model, *test, "--board", board.port, "--logits", tmp_path / "there.npy"
    )
    assert here[0] == there[0] == 0 and here[1] == there[1], there[2]
    logits = np.load(tmp_path / "here.npy")
    assert logits.shape == (50, 10) and len(np.unique(logits)) > 100
    assert (logits == np.load(tmp_path / "there.npy")).all()


def test_eval_takes_a_model_that_is_on_the_board(pushed, files, tmp_path):
    board, _ = pushed
    test = [files.case.files[n] for n in ("test_x.npy", "test_y.npy")]
    at = ["--board", board.port, "--at", "/model.safetensors"]
    status, text, _ = microzo("eval", files.model, *test, *at)
    assert status == 0 and text == microzo("eval", files.model, *test)[1]
    model = device.load(str(files.model))
    model.place([(model.ops - 1, 1)])
    model.state[0] ^= 64
    model.state[1] ^= 3
    other = tmp_path / "other.safetensors"
    model.save(str(other))
    status, _, error = microzo("eval", other, *test, *at)
    assert status == 1 and "another model" in error
    assert microzo("eval", files.model, *test, "--at", "/m")[0] == 2


def test_run_shows_output_and_errors(pushed, tmp_path):
    board, _ = pushed
    script = tmp_path / "s.py"
    script.write_text("print('here')\nraise ValueError('mine')\n")
    status, text, error = microzo("run", board.port, script)
    assert status == 1 and "here" in text and "ValueError: mine" in error


def test_run_bears_long_silence(pushed, tmp_path):
    board, _ = pushed
    script = tmp_path / "s.py"
    script.write_text("import time\ntime.sleep(12)\nprint('awake')\n")
    status, text, _ = microzo("run", board.port, script)
    assert status == 0 and "awake" in text


def test_ctrl_c_reaches_the_script(pushed, tmp_path):
    board, _ = pushed
    script = tmp_path / "s.py"
    script.write_text(
        "import time\nprint('begun')\ntry:\n while 1: time.sleep_ms(10)\n"
        "except KeyboardInterrupt:\n print('tidied up')\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "microzo_host.cli", "run", board.port, str(script)],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline().strip() == "begun"
    process.send_signal(2)
    rest, _ = process.communicate(timeout=60)
    assert "tidied up" in rest


def test_pull_overwrites_nothing(pushed, files, tmp_path):
    board, _ = pushed
    pull = ("pull", board.port, "/model.safetensors", "--out", tmp_path)
    assert microzo(*pull)[0] == 0
    target = tmp_path / "model.safetensors"
    assert target.read_bytes() == files.model.read_bytes()
    target.write_bytes(b"mine")
    status, _, error = microzo(*pull)
    assert status == 1 and "--force" in error and target.read_bytes() == b"mine"
    assert microzo("pull", board.port, "/absent", "--out", tmp_path)[0] == 1
    assert not (tmp_path / "absent").exists()


def test_busy_port(pushed):
    board, _ = pushed
    with board_link.Link(board.port, reset=False):
        status, _, error = microzo("doctor", board.port)
    assert status == 1 and error.startswith(f"Error: the port {board.port} is busy")
    assert error.count("\n") == 1


def test_wrong_architecture(pushed):
    board, _ = pushed
    wrong = NATMODS / "x64" / "_microzo.mpy"
    status, _, error = microzo("push", board.port, "--module", wrong)
    assert status == 1 and "x64" in error and "armv7emsp" in error and error.count("\n") == 1
    assert microzo("doctor", board.port)[0] == 0


def test_wrong_module_on_the_board_is_told(start, files):
    disk = files.disk()
    disk["/lib/_microzo.mpy"] = NATMODS / "x64" / "_microzo.mpy"
    board = start(fs=disk)
    status, text, _ = microzo("doctor", board.port)
    assert status == 1 and "is for x64 with ABI 6.3, the board needs armv7emsp" in text
    with pytest.raises(Exception, match="armv7emsp"):
        board.exec("import microzo\nmicrozo.load('model.safetensors')")


def test_too_full(pushed, tmp_path):
    board, _ = pushed
    big = tmp_path / "big.bin"
    with open(big, "wb") as file:
        file.truncate(9 << 20)
    status, _, error = microzo("push", board.port, big, "--no-package")
    assert status == 1 and "bytes free" in error and error.count("\n") == 1


def test_interrupted_push_goes_on(start, tmp_path):
    board = start(fs={})
    data = tmp_path / "data.bin"
    data.write_bytes(os.urandom(60000))
    push_it = ("push", board.port, data, "--no-package")
    killed = subprocess.Popen([sys.executable, "-m", "microzo_host.cli", *map(str, push_it)])
    time.sleep(3)
    killed.kill()
    killed.wait()
    status, text, error = microzo(*push_it)
    assert status == 0, error
    with board_link.Link(board.port, reset=False) as link:
        assert link.value("__import__('os').listdir('/').count('data.bin')", int) == 1


def test_a_board_that_goes_away(start, tmp_path):
    board = start()
    script = tmp_path / "s.py"
    script.write_text("while 1: pass\n")
    timer = threading.Timer(4, lambda: board._process.kill())
    timer.start()
    status, _, error = microzo("run", board.port, script)
    timer.join()
    assert status == 1 and "went away" in error and error.count("\n") == 1


def test_labels_out_of_range_on_the_board(start, files, tmp_path):
    import numpy as np

    np.save(tmp_path / "bad.npy", np.full(32, 10, np.uint8))
    board = start(fs={**files.disk(), "train_y.npy": tmp_path / "bad.npy"})
    with pytest.raises(Exception, match="label 10.*0..9"):
        board.exec(
            "import microzo\nm = microzo.load('model.safetensors')\n"
            "t = microzo.Trainer(m, 'head')\n"
            "for s in t.run(microzo.Dataset('train_x.npy', 'train_y.npy')): pass"
        )
