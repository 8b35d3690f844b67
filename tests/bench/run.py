"""Instruction counts of the kernels on emulated cores: `make bench`, or run.py [--core m4 ...]."""

import argparse
import subprocess
import sys
from pathlib import Path

import nets as bench_nets
from cores import CORES, ICOUNT_SHIFT

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "native_modules" / "microzo" / "kernels"
HERE = Path(__file__).resolve().parent


LISTS = ("MICROZO_KERNELS", "MICROZO_HOT", "MICROZO_HOT_FLAGS")


def sources():
    """The lists of sources.mk, as make understands them."""
    script = f"include {KERNELS.parent}/sources.mk\nall:\n"
    script += "".join(f"\t@echo $({name})\n" for name in LISTS)
    out = subprocess.run(["make", "-s", "-f", "-"], input=script, capture_output=True, text=True, check=True)
    return {name: line.split() for name, line in zip(LISTS, out.stdout.splitlines(), strict=True)}


def compile_core(core, out, program="bench", portable=False):
    """Builds one of the bench's programs for a core; returns the ELF."""
    out.mkdir(parents=True, exist_ok=True)
    lists = sources()
    flags = [*core.flags, "-mthumb", "-mno-unaligned-access", "-std=gnu99", "-ffreestanding", "-Wall"]
    flags += ["-fno-tree-loop-distribute-patterns", f"-I{KERNELS}", f"-I{HERE}/firmware"]
    flags += [f"-DTARGET_IMAGE={core.image}", "-DTARGET_TICK_MASK=0xffffff"]
    if portable:
        flags += ["-DMZ_PORTABLE=1"]
    jobs, objects = [], []
    files = [(KERNELS / name, name[:-2] in lists["MICROZO_HOT"]) for name in lists["MICROZO_KERNELS"]]
    files += [(HERE / "firmware" / name, False) for name in (f"{program}.c", "cortexm.c")]
    for file, hot in files:
        obj = out / (file.stem + ".o")
        objects.append(str(obj))
        tune = lists["MICROZO_HOT_FLAGS"] if hot else ["-Os"]
        jobs.append(["arm-none-eabi-gcc", *flags, *tune, "-c", "-o", str(obj), str(file)])
    for job in jobs:
        subprocess.run(job, check=True)
    elf = out / f"{program}.elf"
    link = ["arm-none-eabi-gcc", *core.flags, "-mthumb", "-nostartfiles", "--specs=nosys.specs"]
    link += [f"-Wl,--defsym=_code_at={core.code}", f"-Wl,--defsym=_ram_at={core.ram}"]
    link += ["-T", str(HERE / "firmware" / "link.ld"), "-o", str(elf), *objects]
    subprocess.run(link, check=True)
    return elf


def run_core(core, elf, image, icount=True):
    """Runs a program on its emulated core and returns what it printed."""
    command = ["qemu-system-arm", "-machine", core.machine, "-display", "none", "-monitor", "null"]
    command += ["-serial", "null", "-semihosting-config", "enable=on,target=native"]
    command += ["-kernel", str(elf)]
    if icount:
        command += ["-icount", f"shift={ICOUNT_SHIFT},sleep=off"]
    command += ["-device", f"loader,file={image},addr={core.image},force-raw=on"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    return done.stdout + done.stderr


def figures(core, text):
    """{(net, op, measure): instructions}"""
    found = {}
    for line in text.splitlines():
        parts = line.split()
        if len(parts) != 4:
            raise SystemExit(f"{core.name}: {line}")
        scale = 1 if parts[2].startswith("loss") and parts[2] != "loss" else core.per_tick
        found[parts[0], int(parts[1]), parts[2]] = round(int(parts[3]) * scale)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--core", action="append", choices=CORES)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "bench-obj")
    parser.add_argument("--portable", action="store_true")
    args = parser.parse_args()
    all_nets = bench_nets.all_nets()
    args.build.mkdir(parents=True, exist_ok=True)
    image = args.build / "nets.bin"
    image.write_bytes(bench_nets.image(all_nets))
    for name in args.core or ["m4"]:
        core = CORES[name]
        elf = compile_core(core, args.build / name, portable=args.portable)
        text = run_core(core, elf, image)
        for (net, op, measure), value in figures(core, text).items():
            print(name, net, op, measure, value)


if __name__ == "__main__":
    sys.exit(main())
