"""Prints what the firmware of Raspberry Pi boards takes, and what of it is microzo's.

pico_size.py OBJECTS [--json FILE]: OBJECTS is the folder in which build_pico.sh built. Bytes of
flash and of RAM, and the heap that is left, from each firmware.elf and its linker map.
"""

import argparse
import json
import re
from pathlib import Path

from elftools.elf.elffile import ELFFile

ALLOCATED = 2  # a flag of sections
FLASH, RAM = 0x10000000, 0x20000000  # what is below is for debuggers
HEAD = "| board | firmware | flash | of it microzo | variables | heap |"
# A line of the map: where, how many bytes, of which object.
PIECE = re.compile(r"^ +(?:\S+ +)?0x(\w+) +0x(\w+) (\S*native_modules/\S+\.o\S*)$")


def sections(elf):
    """(bytes in flash, bytes of variables)."""
    flash = ram = 0
    for section in ELFFile(elf).iter_sections():
        if not section["sh_flags"] & ALLOCATED or section.name in (".heap", ".stack_dummy"):
            continue
        stored = section["sh_type"] != "SHT_NOBITS"
        flash += section["sh_size"] if stored else 0
        ram += section["sh_size"] if section["sh_addr"] >= RAM else 0
    return flash, ram


def heap(elf):
    """Bytes that the firmware gives to Python."""
    symbols = ELFFile(elf).get_section_by_name(".symtab")
    ends = [
        symbols.get_symbol_by_name(f"__GcHeap{end}")[0]["st_value"] for end in ("End", "Start")
    ]
    return ends[0] - ends[1]


def ours(map_text):
    """Bytes of our objects that the linker kept."""
    pieces = (PIECE.match(line) for line in map_text.splitlines())
    return sum(int(p[2], 16) for p in pieces if p and int(p[1], 16) >= FLASH)


def row(folder):
    """The figures of one build."""
    with open(folder / "firmware.elf", "rb") as elf:
        flash, ram = sections(elf)
        left = heap(elf)
    name = folder.name.removeprefix("pico-")
    board, _, kind = name.rpartition("-")
    mine = ours((folder / "firmware.elf.map").read_text())
    return {
        "board": board, "kind": kind, "flash": flash, "microzo": mine, "ram": ram, "heap": left,
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("objects", type=Path)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    rows = [row(elf.parent) for elf in sorted(args.objects.glob("pico-*/firmware.elf"))]
    if not rows:
        parser.exit(1, "no firmware of a Raspberry Pi board is built: run `make firmware-pico2`\n")
    print(f"{HEAD}\n|---|---|---|---|---|---|")
    for r in rows:
        figures = (f"{r[key]:,}" for key in ("flash", "microzo", "ram", "heap"))
        print("|", " | ".join([r["board"], r["kind"], *figures]), "|")
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
