"""Forged journals on MicroPython, whose exceptions and integers are not those of CPython.

MICROZO_SEED=1 python tests/fuzz/journals_on_boards.py COUNT
"""

import sys
import tempfile
from pathlib import Path

import machine
from mutant_kinds import Journals

from microzo_host.board.emulator import Unix

AT_ONCE = 500


def main(wanted):
    with tempfile.TemporaryDirectory() as folder:
        kind = Journals(folder)
        unix = Unix(usermod=True, heap="32M", path=[machine.ROOT / "device"])
        for begin in range(0, int(wanted), AT_ONCE):
            forged = Path(folder, f"forged{begin}")
            forged.mkdir()
            for number in range(begin, min(int(wanted), begin + AT_ONCE)):
                raw = kind.make(machine.rng("journals", number))
                (forged / f"{number}.j").write_bytes(raw)
            text = unix.run(
                machine.HERE / "journals_mpy.py", forged, kind.model, kind.x, kind.y, timeout=900
            )
            told = [s for s in text.splitlines() if not s.startswith("microzo: warning: ")]
            print("\n".join(told))
            if len(told) != 1:
                sys.exit(1)
    print("done")


if __name__ == "__main__":
    main(*sys.argv[1:])
