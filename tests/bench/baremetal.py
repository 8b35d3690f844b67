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
    "MICROZO_HOT_WIDE",
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


def kernel_objects(core, out, portable=False):
    """Compiles the kernels as a native module's files are compiled; returns (compiler with flags,
    objects)."""
    out.mkdir(parents=True, exist_ok=True)
    lists = sources()
    flags = ["-std=gnu99", "-ffreestanding", "-Wall", "-fno-tree-loop-distribute-patterns"]
    flags += [f"-I{KERNELS}", f"-I{FIRMWARE}", f"-DTARGET_IMAGE={core.image}"]
    compiler = [core.compiler, *core.flags, *flags, *(["-DMZ_PORTABLE=1"] if portable else [])]
    hot_flags = lists["MICROZO_HOT_FLAGS"]
    if core.thumb2:
        hot_flags += lists["MICROZO_THUMB2_FLAGS"]
    hot = lists["MICROZO_HOT"] + ([] if core.name == "m0plus" else lists["MICROZO_HOT_WIDE"])
    objects = []
    for name in lists["MICROZO_KERNELS"]:
        tune = hot_flags if name[:-2] in hot else ["-Os"]
        objects.append(compile_file(core, compiler, tune, KERNELS / name, out))
    if core.target == "xtensa":
        runtime = KERNELS.parent / "xtensa_runtime.c"
        objects.append(compile_file(core, compiler, ["-Os"], runtime, out))
    return compiler, objects


def compile_file(core, compiler, tune, file, out):
    """One object of a file."""
    target = str(out / f"{file.stem}.o")
    command = [*compiler, *tune, "-c", "-o", target, str(file)]
    subprocess.run(command, check=True, env=core.environment)
    return target


def link(core, objects, elf):
    """Links a program for a core."""
    command = [core.compiler, *core.flags, "-nostartfiles", *core.link, "-Wl,--gc-sections"]
    command += ["-T", str(FIRMWARE / "link.ld")]
    command += [f"-Wl,--defsym=_code_at={core.code}", f"-Wl,--defsym=_ram_at={core.ram}"]
    subprocess.run([*command, "-o", str(elf), *objects], check=True, env=core.environment)
    return elf


def build(core, out, program="bench", portable=False):
    """Kernels and one of the programs in firmware/; returns the ELF."""
    compiler, objects = kernel_objects(core, out, portable)
    for name in (program, core.target):
        objects.append(compile_file(core, compiler, ["-Os"], FIRMWARE / f"{name}.c", out))
    return link(core, objects, out / f"{program}.elf")


def build_peer(core, out, peer):
    """Kernels and another library (see peers.py) in the program that compares them."""
    compiler, objects = kernel_objects(core, out)
    start = ["-Os", "-DTARGET_LIBC"]  # the C library's memcpy, which is theirs
    objects.append(compile_file(core, compiler, start, FIRMWARE / f"{core.target}.c", out))
    objects.append(compile_file(core, compiler, ["-Os"], FIRMWARE / "peers" / "peers.c", out))
    flags = peer.flags()
    glue = FIRMWARE / "peers" / f"{peer.glue}.c"
    objects.append(compile_file(core, compiler, flags, glue, out))
    unaligned = [flag for flag in core.flags if flag != "-mno-unaligned-access"]
    theirs = [core.compiler, *unaligned, "-std=gnu11", "-w", "-ffunction-sections", *flags]
    folder = out / "peer"
    folder.mkdir(exist_ok=True)
    objects += [compile_file(core, theirs, [], file, folder) for file in peer.sources()]
    return link(core, objects, out / "peers.elf")


def run(core, elf, image, icount=True):
    """Runs a program with an image in memory; returns what it printed."""
    command = [core.qemu, "-machine", core.machine, "-display", "none", "-monitor", "null"]
    command += ["-bios", "none"] if core.target == "rv32" else []
    command += ["-cpu", "dc233c"] if core.target == "xtensa" else []
    # Xtensa's semihosting writes to the serial port.
    command += ["-serial", "stdio" if core.target == "xtensa" else "null"]
    command += ["-semihosting-config", "enable=on,target=native"]
    # That machine would start at its reset vector: the loader sets the program counter.
    xtensa = ["-device", f"loader,file={elf},cpu-num=0"]
    command += xtensa if core.target == "xtensa" else ["-kernel", str(elf)]
    command += ["-device", f"loader,file={image},addr={core.image},force-raw=on"]
    if icount:
        command += ["-icount", f"shift={ICOUNT_SHIFT},sleep=off"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    return done.stdout + done.stderr
