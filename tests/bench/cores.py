"""The emulated cores of the bench: compiler flags, QEMU machine, memory."""

from dataclasses import dataclass

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

    @property
    def thumb2(self):
        """Whether it is a Cortex-M3 or more."""
        return "m0plus" not in self.name

    @property
    def per_tick(self):
        """Instructions in a tick of SysTick."""
        return 1e9 / self.clock / (1 << ICOUNT_SHIFT)


def _hard(cpu, fpu):
    return f"-mcpu={cpu}", f"-mfpu={fpu}", "-mfloat-abi=hard"


CORES = {
    core.name: core
    for core in (
        Core("m4", _hard("cortex-m4", "fpv4-sp-d16"), "mps2-an386"),
        Core("m3", ("-mcpu=cortex-m3",), "mps2-an385"),
        # The only Cortex-M0 that QEMU has comes with 16 KB; its code runs on an M3 as well.
        Core("m0plus", ("-mcpu=cortex-m0plus",), "mps2-an385"),
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
    )
}
