"""`microzo watch`: from another command, from a serial port, from a board; and as a page."""

import json
import os
import pty
import signal
import subprocess
import sys
import threading
import tty
import urllib.error
import urllib.request

import browser
import numpy as np
import pytest
import small
from click.testing import CliRunner

from microzo_host import cli
from microzo_host.board import push
from microzo_host.cli import watch as watch_command
from microzo_host.demo import session
from microzo_host.report import live as lives
from microzo_host.report import web

pytest.importorskip("plotext", reason="the extra `report` is not installed")
pytest.importorskip("jinja2", reason="the extra `report` is not installed")
LINES = [
    "before 63.2 % of 500",
    "step 1/2 0.1 s/step eta 5 s (realign)",
    "step 2/2 0.1 s/step eta 0 s (realign)",
    "step 1/2 loss 1.25 acc 50.0 % 0.1 s/step eta 5 s (tail)",
    "step 2/2 loss 0.75 acc 75.0 % 0.1 s/step eta 0 s (tail)",
    "realign rolled back: on its own 8 training samples: 50.0 % -> 40.0 %",
    "tail kept: on its own 8 training samples: 50.0 % -> 75.0 %",
    'RESULT {"before": 63.2, "after": 87.4}',
]
TEXT = "".join(line + "\r\n" for line in LINES).encode()
END = "the run has ended: 63.2 % -> 87.4 % of the test samples are right"


def test_what_another_command_prints():
    for columns in ("70", "140"):
        result = CliRunner().invoke(cli.main, ["watch", "-"], input=TEXT, env={"COLUMNS": columns})
        assert result.exit_code == 0, result.output
        assert "loss, nats" in result.output and "right answers" in result.output
        assert END in result.output and "tail kept" in result.output
        assert max(map(len, result.output.splitlines())) <= int(columns)
    assert any("\u2800" < c < "\u28ff" for c in result.output)  # of the curves


def test_a_board_that_trains_of_its_own_accord():
    own, other = pty.openpty()
    for end in (own, other):
        tty.setraw(end)
    threading.Timer(1, os.write, (own, TEXT)).start()
    try:
        result = CliRunner().invoke(cli.main, ["watch", os.ttyname(other)])
        assert result.exit_code == 0 and END in result.output, result.output
        os.set_blocking(own, False)
        with pytest.raises(BlockingIOError):
            os.read(own, 1)  # nothing was sent to it
    finally:
        os.close(own)
        os.close(other)


def test_a_port_that_is_not_there_is_told():
    result = CliRunner().invoke(cli.main, ["watch", "/dev/nothing"])
    assert result.exit_code == 1
    assert "Error: no board at /dev/nothing" in result.output
    result = CliRunner().invoke(cli.main, ["watch", "-", "--before", "x = 1"])
    assert result.exit_code == 2 and "--before needs a SCRIPT" in result.output


@pytest.fixture
def server():
    live = lives.Live()
    with web.Server(live, "Run at <COM3>") as running:
        running.live = live
        yield running


def get(server, path="", **headers):
    request = urllib.request.Request(server.url + path, headers=headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def test_the_page_and_its_events(server):
    kind, text = get(server)
    assert kind.startswith("text/html") and "Run at &lt;COM3&gt;" in text
    server.live.feed(TEXT)
    kind, text = get(server, "events")
    state = json.loads(text.removeprefix("data: "))
    assert kind == "text/event-stream" and state["progress"] == END
    assert state["curves"]["series"][0]["loss"] == [[3, 1.25], [4, 0.75]]
    assert state == json.loads(json.dumps(server.live.state()))


def test_other_names_and_paths_are_refused(server):
    for path, headers, code in (
        ("other", {}, 404), ("", {"Host": "evil.example:80"}, 403),
        ("events", {"Host": "evil.example"}, 403),
    ):  # fmt: skip
        with pytest.raises(urllib.error.HTTPError) as refused:
            get(server, path, **headers)
        assert refused.value.code == code


def test_a_port_of_the_page_that_is_taken(server):
    taken = server.url.rstrip("/").rpartition(":")[2]
    with pytest.raises(OSError, match=f"port {taken} cannot be used"):
        web.Server(lives.Live(), "x", int(taken))


@pytest.mark.slow
def test_a_browser_follows_the_run(server):
    lines = TEXT.splitlines(keepends=True)
    server.live.feed(b"".join(lines[:4]))
    threading.Timer(2, server.live.feed, (b"".join(lines[4:]),)).start()
    page = browser.dom(server.url, wait=8000)
    assert END.replace(">", "&gt;") in page and page.count("<polyline") == 2
    assert "tail kept" in page and 'class="back"' in page


@pytest.fixture
def board(new_board, model_path, tmp_path):
    """A board with the package, the small model and its data."""
    x, y = small.arrays(model_path)
    files = {"model.safetensors": model_path}
    for name, array in (("x", x), ("y", y)):
        for part in ("train", "test"):
            np.save(tmp_path / f"{part}_{name}.npy", array)
            files[f"{part}_{name}.npy"] = tmp_path / f"{part}_{name}.npy"
    plan, _ = push.plan_files(session.BOARD, [])
    return new_board(fs={**dict(plan), **files})


def watch(board, *more):
    """The process of `microzo watch` with train.py."""
    command = [sys.executable, "-u", "-m", "microzo_host.cli", "watch", board.port, session.TRAIN]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*command, *more], **pipes, env={**os.environ, "COLUMNS": "120"})


@pytest.mark.slow
def test_a_board_runs_the_script_of_the_demo(board):
    """train.py on an emulated board: every step is shown, however few it prints of its own."""
    with watch(
        board, "--before", "recipe = 'head'; steps = 20", "--web", "--web-port", "0"
    ) as run:
        output, error = run.communicate(timeout=300)
    assert run.returncode == 0, error
    assert "the run has ended" in output and "the curves are at http://127.0.0.1:" in output
    assert "head kept" in output or "head rolled back" in output


@pytest.mark.slow
def test_ctrl_c_goes_on_to_the_script(board):
    before = "recipe = 'spsa'; steps = 100000"
    run = watch(board, "--before", before, "--web", "--web-port", "0")
    try:
        address = run.stdout.readline().split()[-1]
        with urllib.request.urlopen(address + "events", timeout=60) as events:
            while '"loss": [[' not in (text := events.readline().decode()):
                assert text, "the run has ended"
        run.send_signal(signal.SIGINT)
        output, error = run.communicate(timeout=60)
    finally:
        run.kill()
    assert run.returncode == 0, error
    assert watch_command.STOPPED in output


@pytest.mark.slow
def test_a_script_that_fails_is_told(board, tmp_path):
    script = tmp_path / "bad.py"
    script.write_text("print('step 1/2 loss 1.00 0.1 s/step eta 0 s (spsa)')\n1 / 0\n")
    result = CliRunner().invoke(cli.main, ["watch", board.port, str(script)])
    assert result.exit_code == 1
    assert "Traceback" in result.stderr and "the board says: ZeroDivisionError" in result.stderr
