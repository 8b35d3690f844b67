"""Prints the size of the native modules' code and files, for each architecture.

natmod_size.py SOURCE MODULES OBJECTS [--than SOURCE MODULES OBJECTS] --archs ARCH...
"""

import argparse
import itertools
from pathlib import Path

from elftools.elf.elffile import ELFFile

SECTIONS = (".text", ".rodata", ".bss")


# (file, what follows the architecture in the name of its folder of objects)
MODULES = (("_microzo.mpy", ""), ("_microzo_grad.mpy", "-gradient"))


def sizes(source, modules, objects, arch, file, part):
    """[file, text, rodata, bss] in bytes; zeros if there is no such module."""
    sums = dict.fromkeys(SECTIONS, 0)
    module = Path(modules, arch, file)
    if not module.exists():
        return [0, *sums.values()]
    folder = Path(objects, f"natmod-{arch}{part}")
    for obj in folder.rglob("*.o"):
        if not Path(source, obj.relative_to(folder)).with_suffix(".c").exists():
            continue  # left from an earlier build
        with open(obj, "rb") as f:
            for section in ELFFile(f).iter_sections():
                for name in SECTIONS:
                    if section.name == name or section.name.startswith(name + "."):
                        sums[name] += section["sh_size"]
    return [module.stat().st_size, *sums.values()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("now", nargs=3)
    parser.add_argument("--than", nargs=3)
    parser.add_argument("--archs", nargs="+")
    args = parser.parse_args()
    width = 16 if args.than else 8
    print(f"{'arch, module':<28}" + "".join(f"{name:>{width}}" for name in (".mpy", *SECTIONS)))
    for arch, (file, part) in itertools.product(args.archs, MODULES):
        now = sizes(*args.now, arch, file, part)
        before = sizes(*args.than, arch, file, part) if args.than else now
        if now[0] == before[0] == 0:
            continue
        cells = [str(size) for size in now]
        if args.than:
            cells = [f"{size} ({size - b:+d})" for size, b in zip(now, before, strict=True)]
        print(f"{arch + ' ' + file:<28}" + "".join(f"{cell:>{width}}" for cell in cells))


if __name__ == "__main__":
    main()
