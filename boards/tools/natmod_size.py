"""Prints the size of the native module's code and file, for each architecture built."""

import sys
from pathlib import Path

from elftools.elf.elffile import ELFFile


def main():
    built = sorted(Path("build/natmod").glob("*/_microzo.mpy"))
    if not built:
        sys.exit("no native module is built; run `make natmod` first.")
    print(f"{'arch':<12}{'.mpy':>8}{'text':>8}{'rodata':>8}{'bss':>6}")
    for file in built:
        sums = {".text": 0, ".rodata": 0, ".bss": 0}
        for obj in Path(sys.argv[1], f"natmod-{file.parent.name}").rglob("*.o"):
            with open(obj, "rb") as f:
                for section in ELFFile(f).iter_sections():
                    for name in sums:
                        if section.name == name or section.name.startswith(name + "."):
                            sums[name] += section["sh_size"]
        sizes = "".join(f"{sums[n]:>{w}}" for n, w in ((".text", 8), (".rodata", 8), (".bss", 6)))
        print(f"{file.parent.name:<12}{file.stat().st_size:>8}{sizes}")


if __name__ == "__main__":
    main()
