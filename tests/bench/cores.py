"""The emulated cores of the bench: compiler, flags, QEMU machine, memory."""

from dataclasses import dataclass

# Under -icount shift=4 an instruction takes 16 ns.
ICOUNT_SHIFT = 4


@dataclass(frozen=True)
class Core:
    name: str
    flags: tuple
    machine: str
    code: int = 0
    ram: int = 0x20000000
    image: int = 0x21000000
    clock: int = 25_000_000

    @property
    def per_tick(self):
        """Instructions in a tick of the counter."""
        return 1e9 / self.clock / (1 << ICOUNT_SHIFT)


CORES = {
    core.name: core
    for core in (
        Core("m4", ("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"), "mps2-an386"),
        Core("m3", ("-mcpu=cortex-m3",), "mps2-an385"),
        Core("m0plus", ("-mcpu=cortex-m0plus",), "mps2-an385"),
        Core("m7", ("-mcpu=cortex-m7", "-mfpu=fpv5-d16", "-mfloat-abi=hard"), "mps2-an500", image=0x60000000),
        Core(
            "m33",
            ("-mcpu=cortex-m33", "-mfpu=fpv5-sp-d16", "-mfloat-abi=hard"),
            "mps2-an505",
            code=0x10000000,
            ram=0x38000000,
            image=0x80000000,
            clock=20_000_000,
        ),
    )
}
