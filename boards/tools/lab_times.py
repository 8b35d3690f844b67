"""Prints what the code of the labs takes on the emulated board: millions of instructions a block.

lab_times.py [NUMBER...]: some labs alone, such as 1 4. The board's clock counts instructions, so
the load of this computer does not matter. A table for docs/labs/README.md.
"""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("device", "host_tools", "boards/tools")]

import lab_pages  # noqa: E402

from microzo_host.board import emulator, push  # noqa: E402
from microzo_host.demo import session  # noqa: E402
from microzo_host.labs import folder, sheets  # noqa: E402

PER_MILLISECOND = 1e6 / (1 << emulator.ICOUNT_SHIFT)  # instructions
KINDS = (".npy", ".py", ".safetensors")


def timed(code):
    """A block that prints how many milliseconds of the board's clock it took."""
    return (
        f"import time\n_begin = time.ticks_ms()\n{code}\n"
        f"print({lab_pages.BETWEEN!r}, time.ticks_diff(time.ticks_ms(), _begin))"
    )


def millions(board, page):
    """Millions of instructions of each block of a sheet for a board."""
    for codes in sheets.sessions(page):
        board.soft_reset()
        for code in codes:
            said = board.exec(timed(code), timeout=3600).rpartition(lab_pages.BETWEEN)[2]
            yield int(said) * PER_MILLISECOND / 1e6


def main():
    numbers = sys.argv[1:] or list("123456")
    with tempfile.TemporaryDirectory() as temporary:
        folder.make(temporary)
        chosen = [page for page in sheets.sheets() if page.stem[0] in numbers]
        for page in chosen:
            if sheets.PC_ONLY in page.read_text():
                lab_pages.on_cpython(page, Path(temporary))  # makes the files for the board
        package, _ = push.plan_files(session.board_of("m4"), [])
        files = {p.name: p.read_bytes() for p in Path(temporary).iterdir() if p.suffix in KINDS}
        print("| lab | millions of instructions | of the longest block |\n|---|---|---|")
        with emulator.Board(fs={**dict(package), **files}, icount=True) as board:
            for page in chosen:
                blocks = list(millions(board, page))
                print(f"| {page.stem[0]} | {sum(blocks):,.0f} | {max(blocks):,.0f} |", flush=True)


if __name__ == "__main__":
    main()
