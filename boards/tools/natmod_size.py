"""Prints the size of the native module's code and file, for each architecture.

natmod_size.py SOURCE MODULES OBJECTS [--than SOURCE MODULES OBJECTS] --archs ARCH...
"""

import argparse
from pathlib import Path

from elftools.elf.elffile import ELFFile

SECTIONS = (".text", ".rodata", ".bss")


def sizes(source, modules, objects, arch):
    """[file, text, rodata, bss] in bytes."""
    sums = dict.fromkeys(SECTIONS, 0)
    folder = Path(objects, f"natmod-{arch}")
    for obj in folder.rglob("*.o"):
        if not Path(source, obj.relative_to(folder)).with_suffix(".c").exists():
            continue  # left from an earlier build
        with open(obj, "rb") as f:
            for section in ELFFile(f).iter_sections():
                for name in SECTIONS:
                    if section.name == name or section.name.startswith(name + "."):
                        sums[name] += section["sh_size"]
    return [Path(modules, arch, "_microzo.mpy").stat().st_size, *sums.values()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("now", nargs=3)
    parser.add_argument("--than", nargs=3)
    parser.add_argument("--archs", nargs="+")
    args = parser.parse_args()
    width = 16 if args.than else 8
    print(f"{'arch':<12}" + "".join(f"{name:>{width}}" for name in (".mpy", *SECTIONS)))
    for arch in args.archs:
        cells = [str(size) for size in sizes(*args.now, arch)]
        if args.than:
            before = sizes(*args.than, arch)
            cells = [f"{now} ({int(now) - b:+d})" for now, b in zip(cells, before, strict=True)]
        print(f"{arch:<12}" + "".join(f"{cell:>{width}}" for cell in cells))


if __name__ == "__main__":
    main()
