"""The kernels beside other libraries, in one program a core: `make bench-peers`.

    python tests/bench/peers.py [--cmsis-nn DIR] [--muriscv-nn DIR] [--tinymaix DIR] [--core m4]

A folder is a user's checkout of that library; a row is a layer, both libraries run it on the same
weights and inputs. The kernels' figure has packing in it, what the others prepare once has not.
Writes build/bench/peers.json and prints it as tables; exit status 1 if outputs differ: at all
where arithmetic is the same; by more than one, of those inside int8, with TinyMaix's floats.
"""

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import baremetal
import models
import nets as bench_nets
from cores import CORES, available

from microzo.net import arena as planner
from microzo.net import words as L

OUT = baremetal.ROOT / "build" / "bench"
PORT = baremetal.FIRMWARE / "peers" / "tm_port.h"
SOURCES = ("ConvolutionFunctions", "FullyConnectedFunctions", "NNSupportFunctions")
SOURCES += ("BasicMathFunctions", "PoolingFunctions")


class Peer:
    """A library's checkout: what is compiled, for which cores, with which glue."""

    def __init__(self, name, folder):
        self.name, self.folder = name, Path(folder)
        self.exact = name != "tinymaix"  # it scales by floats
        self.glue = "tinymaix" if name == "tinymaix" else "cmsis_nn"

    def fits(self, core):
        """CMSIS-NN is for Arm, muriscv-nn for RISC-V."""
        return (core.target == "rv32") == (self.name == "muriscv-nn") or self.name == "tinymaix"

    def flags(self):
        if self.name == "tinymaix":
            return [f"-I{self.folder}/include", "-include", str(PORT), "-Os"]
        include = self.folder / "Include"
        more = [f"-I{include}/CMSIS/NN/Include"] if self.name == "muriscv-nn" else []
        return [*more, f"-I{include}", "-O3"]

    def sources(self):
        if self.name == "tinymaix":
            return [self.folder / "src" / "tm_layers.c"]
        found = []
        for kind in SOURCES:
            found += sorted((self.folder / "Source" / kind).rglob("*.c"))
        if not found:
            raise SystemExit(f"{self.folder} has no Source folder of {self.name}")
        support = "NNSupportFunctions"
        chosen = (f for f in found if "s8" in f.stem or f.parent.name == support)
        return [f for f in chosen if "f16" not in f.stem and "f32" not in f.stem]


def image(out):
    """The layers of the bench and of the models, as the program reads them."""
    folder = out / "models"
    files = models.model_files(folder)
    named = {n: models.microzo.load(str(f)) for n, f in files.items() if n != "ad01"}
    layers = bench_nets.all_nets()
    for _, net in layers:  # frozen: int8 weights, as the others read them
        planner.place_state(net.plan, ())
    blobs = [bench_nets.image(layers)[8:]]
    blobs += [models.entry(n, m, False) for n, m in named.items()]
    count = len(layers) + len(named)
    file = out / "peers.bin"
    file.write_bytes(b"MZB1" + count.to_bytes(4, "little") + b"".join(blobs))
    plans = {n[:16]: net.plan for n, net in layers} | {n: m.plan for n, m in named.items()}
    return file, plans


def rows(core, peer, text, plans):
    """A row for each layer that both have."""
    found = {}
    for line in text.splitlines():
        parts = line.split()
        if len(parts) != 4 or not parts[3].isdigit():
            raise RuntimeError(f"{core.name}, {peer.name}: {line}")
        name, op, measure, ticks = parts
        scale = 1 if measure.startswith("value") else core.per_tick
        found.setdefault((name, int(op)), {})[measure] = round(int(ticks) * scale)
    for (name, op), counted in found.items():
        plan, o = plans[name], L.op_base(op)
        macs = planner.macs(plan, o) if planner.is_weighted(plan, o) else planner.out_size(plan, o)
        yield {
            "core": core.name,
            "peer": peer.name,
            "net": name,
            "op": op,
            "kind": L.KIND_NAMES[plan[o + L.KIND]],
            "macs": macs,
            "microzo": counted["microzo"],
            "instructions": counted["peer"],
            "ratio": round(counted["microzo"] / counted["peer"], 3),
            "outputs_that_differ": counted["value-different"],
            "largest_difference_inside": counted["value-most"],
        }


def show(rows):
    """A line for each layer alone, and one for each network."""
    print(
        f"\n{'core':<8}{'peer':<12}{'layer':<24}{'microzo':>10}{'peer':>10}{'ratio':>8}{'differ':>8}"
    )
    sums = {}
    for r in rows:
        net = sums.setdefault((r["core"], r["peer"], r["net"]), [0, 0, 0, 0])
        for i, value in enumerate((r["microzo"], r["instructions"], r["outputs_that_differ"], 1)):
            net[i] += value
    for (core, peer, net), (ours, other, differ, ops) in sums.items():
        macs = sum(
            r["macs"] for r in rows if (r["core"], r["peer"], r["net"]) == (core, peer, net)
        )
        one = ops == 1
        a, b = (f"{v / macs:.2f}" if one else f"{v / 1e6:.2f} M" for v in (ours, other))
        print(f"{core:<8}{peer:<12}{net:<24}{a:>10}{b:>10}{ours / other:>8.2f}{differ:>8}")
    print("instructions per MAC (output of a sum), or millions of all layers that both have")


def main():
    """Counts, writes, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("cmsis-nn", "muriscv-nn", "tinymaix"):
        parser.add_argument(f"--{name}", metavar="DIR", default="")
    parser.add_argument("--core", action="append", choices=CORES, help="default: all")
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    folders = {"cmsis-nn": args.cmsis_nn, "muriscv-nn": args.muriscv_nn, "tinymaix": args.tinymaix}
    peers = [Peer(name, folder) for name, folder in folders.items() if folder]
    if not peers:
        parser.error("no library is named: CMSIS_NN_DIR, MURISCV_NN_DIR or TINYMAIX_DIR")
    args.out.mkdir(parents=True, exist_ok=True)
    file, plans = image(args.out)

    def count(job):
        core, peer = job
        folder = args.out / "obj" / f"{core.name}-{peer.name}"
        elf = baremetal.build_peer(core, folder, peer)
        return list(rows(core, peer, baremetal.run(core, elf, file), plans))

    jobs = [(CORES[n], p) for n in args.core or available() for p in peers if p.fits(CORES[n])]
    with ThreadPoolExecutor(2) as pool:
        counted = [row for part in pool.map(count, jobs) for row in part]
    (args.out / "peers.json").write_text(json.dumps(counted, indent=1) + "\n")
    show(counted)
    exact = {p.name for p in peers if p.exact}
    wrong = [
        r
        for r in counted
        if r["outputs_that_differ"] and r["peer"] in exact or r["largest_difference_inside"] > 1
    ]
    for r in wrong:
        print(f"{r['core']}, {r['net']} {r['op']} {r['kind']}: outputs differ", file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
