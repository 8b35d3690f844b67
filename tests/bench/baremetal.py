"""Builds the bench's programs for emulated cores and runs them, without MicroPython."""

import subprocess
from pathlib import Path

from cores import ICOUNT_SHIFT

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "native_modules" / "microzo" / "kernels"
FIRMWARE = Path(__file__).resolve().parent / "firmware"
LISTS = (
    "MICROZO_KERNELS",
    "MICROZO_HOT",
    "MICROZO_HOT_RV32",
    "MICROZO_HOT_FLAGS",
    "MICROZO_THUMB2_FLAGS",
)


def sources():
    """The lists of sources.mk, as make understands them."""
    script = f"include {KERNELS.parent}/sources.mk\nall:\n"
    script += "".join(f"\t@echo $({name})\n" for name in LISTS)
    command = ["make", "-s", "-f", "-"]
    out = subprocess.run(command, input=script, capture_output=True, text=True, check=True)
    return {name: line.split() for name, line in zip(LISTS, out.stdout.splitlines(), strict=True)}


def build(core, out, program="bench", portable=False):
    """Compiles kernels and program as a native module's files are compiled; returns the ELF."""
    out.mkdir(parents=True, exist_ok=True)
    lists = sources()
    compiler = [core.compiler, *core.flags]
    flags = ["-std=gnu99", "-ffreestanding", "-Wall", "-fno-tree-loop-distribute-patterns"]
    flags += [f"-I{KERNELS}", f"-I{FIRMWARE}", f"-DTARGET_IMAGE={core.image}"]
    flags += ["-DMZ_PORTABLE=1"] if portable else []
    hot_flags = lists["MICROZO_HOT_FLAGS"]
    if core.thumb2:
        hot_flags += lists["MICROZO_THUMB2_FLAGS"]
    hot = lists["MICROZO_HOT"] + (lists["MICROZO_HOT_RV32"] if core.target == "rv32" else [])
    files = [(KERNELS / name, name[:-2] in hot) for name in lists["MICROZO_KERNELS"]]
    files += [(FIRMWARE / f"{name}.c", False) for name in (program, core.target)]
    objects = []
    for file, fast in files:
        objects.append(str(out / f"{file.stem}.o"))
        tune = hot_flags if fast else ["-Os"]
        command = [*compiler, *flags, *tune, "-c", "-o", objects[-1], str(file)]
        subprocess.run(command, check=True)
    elf = out / f"{program}.elf"
    link = [*compiler, "-nostartfiles", *core.link, "-T", str(FIRMWARE / "link.ld")]
    link += [f"-Wl,--defsym=_code_at={core.code}", f"-Wl,--defsym=_ram_at={core.ram}"]
    subprocess.run([*link, "-o", str(elf), *objects], check=True)
    return elf


def run(core, elf, image, icount=True):
    """Runs a program with an image in memory; returns what it printed."""
    command = [core.qemu, "-machine", core.machine, "-display", "none", "-monitor", "null"]
    command += ["-bios", "none"] if core.target == "rv32" else []
    command += ["-serial", "null", "-semihosting-config", "enable=on,target=native"]
    command += ["-kernel", str(elf)]
    command += ["-device", f"loader,file={image},addr={core.image},force-raw=on"]
    if icount:
        command += ["-icount", f"shift={ICOUNT_SHIFT},sleep=off"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    return done.stdout + done.stderr
