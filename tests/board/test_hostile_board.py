"""A board that lies, sends noise or never ends: one sentence, and no command to the terminal."""

import base64
import hashlib
import time
from pathlib import Path

import numpy as np
import pytest
import small
from click.testing import CliRunner
from lying_board import LyingBoard

from microzo_host import cli, visible
from microzo_host.board import errors, line
from microzo_host.board import files as board_files
from microzo_host.board import link as board_link
from microzo_host.model import checks

EVIL = b"\x1b]0;OWNED\x07\x1b[2J"
SHOWN = "\\x1b]0;OWNED\\x07\\x1b[2J"


def microzo(*args):
    """(status, what was printed); any other exception than an exit is a failure."""
    result = CliRunner().invoke(cli.main, [str(a) for a in args])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def _state(data):
    """What a board says of a file that holds the data."""
    return repr((len(data), base64.b64encode(hashlib.sha256(data).digest()).decode())).encode()


def refused(result, *words):
    status, text = result
    assert status == 1 and "\x1b" not in text and "\x07" not in text
    assert text.splitlines()[-1].startswith("Error: ")
    for word in words:
        assert word in text


IDENTITY = "sys.implementation.name"
NOISE = {
    "deep": b"[" * 20000,
    "deep tuple": b"(" * 90 + b"1,),)",
    "syntax": b"(((",
    "another type": b"5",
    "huge number": b"9" * 6000,
    "long number": b"('micropython', (1, 25, 0), " + b"9" * 4000 + b", 'a', 1)",
    "wrong length": b"('micropython', (1, 25), 7942, 'a', 1)",
    "text for a number": b"('micropython', (1, 25, 0), '7942', 'a', 1)",
    "call": b"__import__('os').abort()",
    "bytes": bytes(range(5, 256)),
    "long": b"'" + b"x" * (1 << 17) + b"'",
}


@pytest.mark.parametrize("kind", NOISE)
def test_noise_for_an_answer(kind):
    with LyingBoard({IDENTITY: NOISE[kind]}) as board:
        refused(microzo("push", board.port), "answers with noise")


@pytest.mark.parametrize("lie", [b"(5, 7)", b"-1", b"('x', 5)", b"(9223372036854775808, '')"])
def test_noise_for_a_hash(lie):
    with LyingBoard({"repr((_mz_hash": lie}) as board:
        refused(microzo("pull", board.port, "/a"), "answers with noise")


def test_escapes_in_the_name_of_a_board_are_shown():
    machine = b"('micropython', (1, 25, 0), 7942, '" + EVIL.replace(b"\x1b", b"\\x1b").replace(
        b"\x07", b"\\x07"
    )
    with LyingBoard({IDENTITY: machine + b"', 1)"}) as board:
        status, text = microzo("push", board.port, "--no-package")
    assert status == 0 and SHOWN in text and "\x1b" not in text


def test_escapes_in_an_error_are_shown():
    error = b"Traceback (most recent call last):\r\n  " + EVIL + b"OSError: evil\r\n"
    with LyingBoard(error=error) as board:
        refused(microzo("pull", board.port, "/a"), SHOWN + "OSError: evil")


def test_escapes_of_a_script_are_shown_unless_raw_is_asked_for(tmp_path):
    script = tmp_path / "s.py"
    script.write_text("print('evil')")
    with LyingBoard({"evil": EVIL + b"\xff\xc2\x9b\r\n"}) as board:
        status, text = microzo("run", board.port, script)
        assert (status, text) == (0, SHOWN + "\\xff\\x9b\n")
        result = CliRunner().invoke(cli.main, ["run", board.port, str(script), "--raw"])
        assert result.stdout_bytes == EVIL + b"\xff\xc2\x9b\r\n"


def test_a_script_that_fails_shows_its_traceback_without_escapes(tmp_path):
    script = tmp_path / "s.py"
    script.write_text("print('evil')")
    with LyingBoard(error=b"Traceback:\r\n" + EVIL + b"ValueError: mine\r\n") as board:
        refused(microzo("run", board.port, script), "Traceback:\n" + SHOWN + "ValueError: mine")


@pytest.mark.parametrize("size", [8388609, 10**12, 10**18])
def test_a_file_larger_than_its_file_system_is_not_pulled(size, tmp_path):
    with LyingBoard({"repr((_mz_hash": b"(%d, 'x')" % size}) as board:
        result = microzo("pull", board.port, "/a", "--out", tmp_path)
    refused(result, "more than its file system holds")


def test_a_file_system_without_end_is_not_believed(tmp_path):
    lies = {"repr((_mz_hash": b"(1000000000000, 'x')", "os.statvfs": b"(1, 1, %d, 0)" % 10**15}
    with LyingBoard(lies) as board:
        refused(microzo("pull", board.port, "/a", "--out", tmp_path), "1,000,000,000,000 bytes")


@pytest.mark.parametrize("chunk", [b"!!!!\xff", b"QUFBQQ==" * 2000, b"", b"QUE=", b"A"])
def test_chunks_that_are_none(chunk, tmp_path):
    with LyingBoard({"repr((_mz_hash": b"(5, 'x')", "_mz_f.read": chunk}) as board:
        refused(microzo("pull", board.port, "/a", "--out", tmp_path), "arrived damaged")
    assert not list(tmp_path.iterdir())


def test_output_without_end_ends(monkeypatch):
    monkeypatch.setattr(board_link, "MOST_OUTPUT", 5000)
    with LyingBoard({"many": b"x" * 6000}) as board, board_link.Link(board.port) as link:
        with pytest.raises(errors.LinkError, match="printed more than"):
            link.exec("many")


def test_noise_without_end_for_an_error_ends(monkeypatch):
    monkeypatch.setattr(line, "MOST_NOISE", 3000)
    with LyingBoard(error=b"x" * 6000) as board, board_link.Link(board.port) as link:
        with pytest.raises(errors.LinkError, match="stopped answering.*no answer"):
            link.exec("anything")


def test_a_line_full_of_noise_is_given_up(monkeypatch):
    """The prompt never comes, and what comes never ends."""
    monkeypatch.setattr(board_link, "ENTERING", 1)
    monkeypatch.setattr(board_link, "ATTEMPTS", 1)
    with LyingBoard(noise=b"noise " * 100) as board:
        begun = time.monotonic()
        with pytest.raises(errors.LinkError, match="does not answer as a MicroPython board"):
            board_link.Link(board.port)
        assert time.monotonic() - begun < 10


def test_a_lying_board_gives_no_logits(tmp_path):
    model = small.write_model(tmp_path / "m.safetensors")
    paths = small.write_data(tmp_path, model)
    hashes = {f"_mz_hash({'/' + p.name!r})": _state(p.read_bytes()) for p in map(Path, paths)}
    for lie in (b"", b"noise", b"1 2\n3 4\n", b"1 2\nlogits xyz\n1 2 3", b"1\n" * 3):
        with LyingBoard({"_m.evaluate": lie, **hashes}) as board:
            refused(microzo("eval", model, *paths, "--board", board.port, "--at", "/m"), "noise")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, naïve 日本", "plain, naïve 日本"),
        ("\x1b[31m\x9b", "\\x1b[31m\\x9b"),
        ("a\u202eb\u2028c\ud800", "a\\u202eb\\u2028c\\ud800"),
        ("a\rb\tc\n", "a\\rb\tc\n"),
    ],
)
def test_what_is_visible(text, shown):
    assert visible.visible(text) == shown


def test_a_new_folder_is_made_by_pull(tmp_path):
    lies = {"repr((_mz_hash": _state(b"here"), "_mz_f.read": base64.b64encode(b"here")}
    with LyingBoard(lies) as board:
        folder = tmp_path / "new" / "folder"
        assert microzo("pull", board.port, "/a/b.bin", "--out", folder)[0] == 0
        assert (folder / "b.bin").read_bytes() == b"here"
        refused(microzo("pull", board.port, "/a/b.bin", "--out", folder), "exists", "--force")


def test_the_mapped_file_system_counts_in_bytes():
    with LyingBoard({"os.statvfs": b"(1, 0, 5000, 0)"}) as board, board_link.Link(board.port) as k:
        assert board_files.Files(k).capacity("/rom/m") == 5000


@pytest.mark.parametrize("header", [
    "{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999, 1), }",
    "'\x9e\x98Q((((\n" * 4,
    "(" * 5000,
    "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '|V0', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '|u1', 'fortran_order': False, 'shape': (-5,), }",
    "{'descr': [('a', '|u1')], 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '|u1', 'fortran_order': False, 'shape': (2.5,), }",
    "{'descr': '|u1', 'fortran_order': 3, 'shape': (), }",
    "",
])  # fmt: skip
def test_a_damaged_npy_is_one_sentence(header, tmp_path):
    model = small.write_model(tmp_path / "m.safetensors")
    x, y = small.write_data(tmp_path, model)
    raw = header.encode("latin1")
    bad = tmp_path / "bad.npy"
    bad.write_bytes(b"\x93NUMPY\x01\0" + len(raw).to_bytes(2, "little") + raw)
    refused(microzo("eval", model, bad, y))
    refused(microzo("eval", model, x, bad))


def test_arrays_are_read_as_numpy_does(tmp_path):
    for array in (
        np.arange(24, dtype=np.uint8).reshape(2, 3, 4),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array(5, np.int16),
        np.zeros((0, 3), bool),
        np.arange(3, dtype=">i4"),
    ):
        np.save(tmp_path / "a.npy", array)
        same = checks.array(tmp_path / "a.npy")
        assert same.dtype == array.dtype and same.shape == array.shape and (same == array).all()


def test_deep_json_is_one_sentence(tmp_path):
    model = small.write_model(tmp_path / "m.safetensors")
    header = b'{"a":' + b"[" * 30000
    header += b" " * (-len(header) % 8)
    deep = tmp_path / "deep.safetensors"
    deep.write_bytes(len(header).to_bytes(8, "little") + header)
    recipe = tmp_path / "deep.json"
    recipe.write_text("[" * 100000)
    for arguments in (
        ("plan", deep), ("plan", model, "--recipe", recipe), ("quantize", deep, model, "-o", "x"),
    ):  # fmt: skip
        refused(microzo(*arguments))
