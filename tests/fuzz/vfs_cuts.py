"""Cuts the power of a RAM disk under MicroPython's own VfsLfs2 and VfsFat; see vfs_life.py.

    MICROZO_SEED=1 python tests/fuzz/vfs_cuts.py LFS|FAT CUTS [CASE]

Every start of the board is an interpreter of its own, on what the cut before left.
"""

import json
import sys
import tempfile
from pathlib import Path

import draw
import machine
import small

from microzo_host.board import push
from microzo_host.board.emulator import Unix

MOST_LIVES = 5  # of a case, before it may end
NO_LIMIT = 1 << 29


class Board:
    """A disk and what runs on it."""

    def __init__(self, fs, folder, files):
        self._fs, self._folder = fs, Path(folder)
        self._image = self._folder / "disk.img"
        self._files = dict(zip(("model", "x", "y"), files))
        for target, raw in push.package_files().items():  # compiled: starts are many
            path = self._folder / target.strip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw)
        self._unix = Unix(usermod=True, heap="32M", path=[self._folder / "lib"])

    def begin(self, made, layers, options):
        """An empty disk, and what its next starts do."""
        self._image.unlink(missing_ok=True)
        outputs = {name: str(self._folder / name) for name in ("out", "journal")}
        settings = {**self._files, **outputs, "recipe": made, "layers": layers, "options": options}
        (self._folder / "settings").write_text(json.dumps(settings))

    def start(self, limit, seed):
        """Block writes of a life that ended, None for one that was cut."""
        text = self._unix.run(
            machine.HERE / "vfs_life.py", self._fs, self._image, self._folder / "settings",
            limit, seed,
        )  # fmt: skip
        words = text.splitlines()[-1].split()  # behind the warnings
        return int(words[1]) if words[0] == "ended" else None

    def result(self):
        return [(self._folder / name).read_bytes() for name in ("out", "journal")]


def case(board, fs, number):
    """Cuts that were made; AssertionError if a bit differs."""
    rng = machine.rng(fs, number)
    run = draw.run(rng, number)
    board.begin(*run)
    ticks = board.start(NO_LIMIT, 0)
    result = board.result()
    board.begin(*run)
    cuts = 0
    for _ in range(rng.randint(1, MOST_LIVES)):
        if board.start(rng.randint(1, ticks), rng.randrange(1 << 30)) is not None:
            break
        cuts += 1
    assert board.start(NO_LIMIT, 0) is not None
    assert board.result() == result, "other bits"
    return cuts


def main(fs, wanted, only=None):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        model = small.write_model(folder / "m.safetensors")
        board = Board(fs, folder, [model, *small.write_data(folder, model)])
        cuts = number = 0
        while cuts < int(wanted):
            chosen = number if only is None else int(only)
            try:
                cuts += case(board, fs, chosen)
            except BaseException:
                print(f"MICROZO_SEED={machine.SEED} vfs_cuts.py {fs} 1 {chosen}", flush=True)
                raise
            number += 1
            if only is not None:
                break
    print(f"{fs}: {cuts} cuts in {number} runs\ndone")


if __name__ == "__main__":
    main(*sys.argv[1:])
