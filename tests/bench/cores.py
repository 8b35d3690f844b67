"""The emulated cores of the bench: compiler flags, QEMU machine, memory."""

import os
import shutil
from dataclasses import dataclass

from microzo_host import place

# Under -icount shift=4 an instruction takes 16 ns.
ICOUNT_SHIFT = 4


@dataclass(frozen=True)
class Core:
    """A core and the QEMU machine that has it; image: where its larger memory begins."""

    name: str
    flags: tuple
    machine: str
    code: int = 0
    ram: int = 0x20000000
    image: int = 0x21000000
    clock: int = 25_000_000
    compiler: str = "arm-none-eabi-gcc"
    qemu: str = "qemu-system-arm"
    target: str = "cortexm"

    @property
    def thumb2(self):
        """Whether it is a Cortex-M3 or more."""
        return self.target == "cortexm" and "m0plus" not in self.name

    @property
    def per_tick(self):
        """Instructions in a tick of the counter that the program reads."""
        return 1e9 / self.clock / (1 << ICOUNT_SHIFT) if self.target == "cortexm" else 1

    @property
    def link(self):
        """What the linker needs of the C library."""
        return {"cortexm": ("--specs=nosys.specs",), "xtensa": ("-nostdlib", "-Wl,-e,_start")}.get(
            self.target, ()
        )

    @property
    def environment(self):
        """Variables of the compiler's programs."""
        return {**os.environ, "XTENSA_GNU_CONFIG": str(XTENSA_PLUGIN)}

    @property
    def tools(self):
        """The programs that build for it and run it."""
        plugin = (str(XTENSA_PLUGIN),) if self.target == "xtensa" else ()
        return self.compiler, self.qemu, *plugin


def _hard(cpu, fpu):
    return *_thumb(cpu), f"-mfpu={fpu}", "-mfloat-abi=hard"


def _thumb(cpu):
    return f"-mcpu={cpu}", "-mthumb", "-mno-unaligned-access"


CORES = {
    core.name: core
    for core in (
        Core("m4", _hard("cortex-m4", "fpv4-sp-d16"), "mps2-an386"),
        Core("m3", _thumb("cortex-m3"), "mps2-an385"),
        # The only Cortex-M0 that QEMU has comes with 16 KB; its code runs on an M3 as well.
        Core("m0plus", _thumb("cortex-m0plus"), "mps2-an385"),
        Core("m7", _hard("cortex-m7", "fpv5-d16"), "mps2-an500", image=0x60000000),
        Core(
            "m33",
            _hard("cortex-m33", "fpv5-sp-d16"),
            "mps2-an505",
            code=0x10000000,
            ram=0x38000000,
            image=0x80000000,
            clock=20_000_000,
        ),
        Core(
            "rv32",
            ("-march=rv32imac", "-mabi=ilp32", "--specs=picolibc.specs"),
            "virt",
            code=0x80000000,
            ram=0x81000000,
            image=0x82000000,
            compiler="riscv64-unknown-elf-gcc",
            qemu="qemu-system-riscv32",
            target="rv32",
        ),
    )
}


# What ESP32, S2 and S3 run: code with register windows. QEMU has no core of theirs; dc233c lacks
# one of their instructions (muluh), which only xtensa_runtime.c takes. No figures of speed.
XTENSA_PLUGIN = place.CLONE / "build" / "xtensa" / "le.so"  # make natmod ARCHS=xtensawin
XTENSA = Core(
    "xtensawin",
    ("-mabi=windowed", "-mlongcalls", "-mtext-section-literals", "-DMZ_WITHOUT_MULUH")
    + ("-isystem", "/usr/lib/xtensa-lx106-elf/include/release"),
    "sim",
    code=0x00100000,
    ram=0x01000000,
    image=0x02000000,
    compiler="xtensa-lx106-elf-gcc",
    qemu="qemu-system-xtensa",
    target="xtensa",
)


def available():
    """Names of the cores whose tools are installed."""
    return [name for name, core in CORES.items() if all(map(shutil.which, core.tools))]
