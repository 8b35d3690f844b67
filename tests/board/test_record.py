"""`microzo record`: what a script on a board records comes to this computer."""

import base64

import numpy as np
import pytest
from click.testing import CliRunner
from lying_board import LyingBoard

import microzo
from microzo_host.board import push, record
from microzo_host.cli import main
from microzo_host.demo import session


def line(sample, label=1, classes=4, shape=(2, 3, 1), crc=None):
    crc = microzo.kernels().crc32(sample, 0, len(sample)) if crc is None else crc
    numbers = b"%d %d %d %d %d %d" % (*shape, classes, label, crc)
    return b"\x02mzrec " + numbers + b" " + base64.b64encode(sample) + b"\x03"


@pytest.mark.parametrize("piece", [1, 7, 64, 10000])
def test_output_is_told_from_samples(piece, tmp_path):
    text = b"begin\r\n" + line(b"abcdef") + b"mid \x02mz\r\n" + line(b"ghijkl", 3) + b"end\x02"
    taken = record.Samples(tmp_path / "new")
    shown = b"".join(taken.feed(text[i : i + piece]) for i in range(0, len(text), piece))
    taken.close()
    assert shown + taken.rest() == b"begin\r\nmid \x02mz\r\nend\x02" and taken.damaged == 0
    x, y = (np.load(tmp_path / "new" / name) for name in ("x.npy", "y.npy"))
    assert x.shape == (2, 2, 3, 1) and x.tobytes() == b"abcdefghijkl" and y.tolist() == [1, 3]


@pytest.mark.parametrize(
    "bad",
    [
        line(b"abcdef", crc=5),
        line(b"abcde"),
        line(b"abcdef", label=4),
        line(b"abcdef", label=-2),
        line(b"abcdef", classes=1 << 40),
        line(b"abcdef", shape=(6, 1, 1)),
        line(b"abcdef", shape=(-2, -3, 1)),
        line(b"abcdef", label=-1),
        b"\x02mzrec 2 3 1\x03",
        b"\x02mzrec \xff\xfe\x03",
        b"\x02mzrec 2 3 1 4 1 7 !!!!\x03",
    ],
)
def test_a_hostile_line_is_no_sample(bad, tmp_path):
    taken = record.Samples(tmp_path)
    assert taken.feed(line(b"abcdef") + bad + line(b"ghijkl")) == b""
    taken.close()
    assert (taken.count, taken.damaged, taken.total) == (2, 1, 2)
    assert np.load(tmp_path / "x.npy").tobytes() == b"abcdefghijkl"


def test_a_line_without_end_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "LONGEST", 1000)
    taken = record.Samples(tmp_path)
    taken.feed(b"\x02mzrec ")
    for _ in range(100):
        taken.feed(b"a" * 100)
    assert len(taken.rest()) < 2000 and taken.damaged == 1


def test_a_board_without_the_package(tmp_path):
    (tmp_path / "script.py").write_text("pass")
    error = b"Traceback (most recent call last):\r\nImportError: no module named 'microzo'\r\n"
    with LyingBoard({"recorder.tell": b""}, error=error) as board:
        done = CliRunner().invoke(main, ["record", board.port, str(tmp_path / "script.py")])
    assert done.exit_code == 1 and "`microzo push` brings it" in done.output


SCRIPT = """
import microzo
model = microzo.load("m.safetensors")
recorder = microzo.Recorder(None, None, model, capacity=2)
i = 0
print("begin")
while FOREVER or i < 5:
    recorder.append(bytes([i & 255] * model.sample_len), i % 4)
    i += 1
print("end")
"""


@pytest.mark.parametrize("forever", [False, True])
def test_from_a_board(forever, new_board, model_path, tmp_path):
    plan, _ = push.plan_files(session.BOARD, [])
    board = new_board(fs={**dict(plan), "m.safetensors": open(model_path, "rb").read()})
    (tmp_path / "script.py").write_text(SCRIPT.replace("FOREVER", str(forever)))
    command = ["record", board.port, str(tmp_path / "script.py"), "--out", str(tmp_path / "out")]
    for run in (1, 2):
        limit = ["--samples", "7"] if forever else []
        done = CliRunner().invoke(main, command + limit)
        assert done.exit_code == 0 and "begin" in done.output, done.output
        assert ("begin\nend\n" in done.output) is not forever
        count = sum(1 for _ in np.load(tmp_path / "out" / "y.npy"))
        assert count >= 7 * run if forever else count == 5 * run
    x, y = (np.load(tmp_path / "out" / name) for name in ("x.npy", "y.npy"))
    assert y[:5].tolist() == [0, 1, 2, 3, 0] and x[3, 0, 0, 0] == 3 and x.shape[1:] == (12, 12, 1)
    assert f"out/x.npy has {len(x)}" in done.output
