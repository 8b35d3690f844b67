"""Wraps a firmware's image into blocks of the UF2 format, for RP2040: uf2.py IMAGE OUT."""

import struct
import sys
from pathlib import Path

FLASH, FAMILY, FAMILY_PRESENT = 0x10000000, 0xE48BFF56, 0x2000
FIRST, SECOND, LAST = 0x0A324655, 0x9E5D5157, 0x0AB16F30  # a block's magic numbers
PAYLOAD = 256
DATA_BYTES = 476


def wrap(image):
    """The file's bytes."""
    pieces = [image[at : at + PAYLOAD] for at in range(0, len(image), PAYLOAD)]
    blocks = []
    for number, piece in enumerate(pieces):
        head = (FIRST, SECOND, FAMILY_PRESENT, FLASH + number * PAYLOAD, PAYLOAD, number)
        head = struct.pack("<8I", *head, len(pieces), FAMILY)
        blocks.append(head + piece.ljust(DATA_BYTES, b"\0") + struct.pack("<I", LAST))
    return b"".join(blocks)


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(wrap(Path(sys.argv[1]).read_bytes()))
