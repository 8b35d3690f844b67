"""Wraps a firmware's image into blocks of the UF2 format: uf2.py IMAGE OUT [BOARD]."""

import struct
import sys
from pathlib import Path

FLASH, FAMILY_PRESENT = 0x10000000, 0x2000
# RP2040, then RP2350 with either kind of cores: a board's boot loader takes only its own.
FAMILIES = {"RPI_PICO": 0xE48BFF56, "RPI_PICO2": 0xE48BFF59, "RPI_PICO2-RISCV": 0xE48BFF5A}
FIRST, SECOND, LAST = 0x0A324655, 0x9E5D5157, 0x0AB16F30  # a block's magic numbers
PAYLOAD = 256
DATA_BYTES = 476


def wrap(image, family):
    """The file's bytes."""
    pieces = [image[at : at + PAYLOAD] for at in range(0, len(image), PAYLOAD)]
    blocks = []
    for number, piece in enumerate(pieces):
        head = (FIRST, SECOND, FAMILY_PRESENT, FLASH + number * PAYLOAD, PAYLOAD, number)
        head = struct.pack("<8I", *head, len(pieces), family)
        blocks.append(head + piece.ljust(DATA_BYTES, b"\0") + struct.pack("<I", LAST))
    return b"".join(blocks)


if __name__ == "__main__":
    board = sys.argv[3] if len(sys.argv) > 3 else "RPI_PICO"
    Path(sys.argv[2]).write_bytes(wrap(Path(sys.argv[1]).read_bytes(), FAMILIES[board]))
