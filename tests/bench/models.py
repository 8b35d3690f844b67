"""Instructions of whole models, operator by operator: part of `make bench`.

    python tests/bench/models.py [--core m4] [--table]

Writes models.json, layers.json (a row for each operator) and costs.json to build/bench and prints
the first; without ../shared only the demo network is counted. `microzo plan` estimates times from
costs.json, or where no bench was run from host_tools/microzo_host/assets/costs.json, which
--table writes.
"""

import argparse
import json
import struct
import sys
from pathlib import Path

import baremetal
import costs
from cores import CORES, available

import microzo
from microzo.net import arena as planner
from microzo.net import words as L
from microzo_host.board import emulator, push
from microzo_host.board import romfs as romfs_image
from microzo_host.demo import prepare, session
from microzo_host.importers import import_model
from microzo_host.model import file as modelfile

OUT = baremetal.ROOT / "build" / "bench"
SHARED = baremetal.ROOT.parent / "shared" / "models"
MODELS = ("kws", "resnet8_cifar10", "ad01")
BOARD = "m4"  # the core whose emulated board tells the RAM
MEASURES = ("perturbed", "update", "stats", "gradient", "apply", "tail", "node")
PAIRS = 8  # of an update, as in firmware/models.c
TRAINED = "+"  # after the name of a model whose operators all have trained values
SCRIPT = """
import board, gc, microzo, time
model = microzo.load("/rom/model.safetensors")
sample = bytearray(model.sample_len)
model.predict(sample)
begun = time.ticks_cpu()
model.forward()
spent = time.ticks_diff(time.ticks_cpu(), begun)
gc.collect()
_, static, stack, _ = board.ram()
print(static + stack + gc.mem_alloc(), spent)
"""


def model_files(folder):
    """{name: model file} of the demo network and of those in ../shared."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {"demo": prepare.model("mnist", folder)[0]}
    for name in MODELS:
        source = SHARED / f"{name}_int8.tflite"
        if not source.is_file():
            print(f"{source} is not here: left out", file=sys.stderr)
            continue
        found[name] = folder / f"{name}.safetensors"
        modelfile.write(found[name], import_model(source))
    return found


def entry(name, model, trained):
    """A network of the image, with the arena of inference."""
    every = [(i, L.WEIGHTS | L.BIASES) for i in range(model.ops)]
    weighted = [p for p in every if planner.is_weighted(model.plan, L.op_base(p[0]))]
    planner.place_state(model.plan, weighted if trained else ())
    planner.layout(model.plan)
    plan, blob = model.plan.tobytes(), bytes(model.blob)
    blob += bytes(-len(blob) % 8)
    title = (name + TRAINED * trained).encode()[:16].ljust(16, b"\0")
    return title + struct.pack("<2I", len(plan), len(blob)) + plan + blob


def image(models):
    """The bytes that firmware/models.c reads: every model as it is, then with trained values."""
    entries = [entry(n, m, t) for n, m in models.items() for t in (False, True)]
    return b"MZB1" + struct.pack("<I", len(entries)) + b"".join(entries)


def count(core, folder, file):
    """{(name, op, measure): instructions} of a core, counted twice."""
    elf = baremetal.build(core, folder, "models")
    first, second = (baremetal.run(core, elf, file) for _ in range(2))
    if first != second:
        raise RuntimeError(f"{core.name}: two runs counted differently")
    found = {}
    for line in first.splitlines():
        name, op, measure, ticks = line.split()
        found[name, int(op), measure] = round(int(ticks) * core.per_tick)
    return found


def layers(core, name, model, found):
    """What each operator of a model costs."""
    for i, o in enumerate(planner.bases(model.plan)):
        yield {
            "core": core,
            "model": name,
            "op": i,
            "kind": L.KIND_NAMES[model.plan[o + L.KIND]],
            "macs": planner.macs(model.plan, o),
            "outputs": planner.out_size(model.plan, o),
            "weights": planner.row_len(model.plan, o) * model.plan[o + L.OUT_C],
            "forward": found[name, i, "forward"],
            **{what: found.get((name + TRAINED, i, what), 0) for what in MEASURES},
            "pairs": PAIRS,
        }


def on_board(file):
    """(peak RAM in bytes, instructions of a forward) on the emulated board, weights in ROMFS."""
    rom = romfs_image.make({"model.safetensors": Path(file).read_bytes()})
    plan, _ = push.plan_files(session.BOARD, [])
    with emulator.Board(fs=dict(plan), romfs=rom, icount=True) as board:
        peak, ticks = map(int, board.exec(SCRIPT, timeout=300).split())
    return peak, round(ticks / emulator.TICKS_PER_INSTRUCTION)


def row(core, name, rows, ram):
    """A row of models.json; MACs are those of layers with weights."""
    macs = sum(r["macs"] for r in rows if r["weights"])
    instructions = sum(r["forward"] for r in rows)
    peak, called = ram if core == BOARD else (None, None)
    return {
        "model": name,
        "core": core,
        "macs": macs,
        "instructions": instructions,
        "per_mac": round(instructions / macs, 3),
        "ram_peak_bytes": peak,
        "instructions_on_board": called,
    }


def pairs(name, found):
    """Both passes of all operators with trained values, first and again on the same input; for
    models that begin with a dense layer."""
    for what in ("pair", "further-pair"):
        yield what.replace("-", "_"), found.get((name + TRAINED, 99, what))


def show(rows):
    """Prints models.json."""
    print(
        f"\n{'model':<18}{'core':<8}{'MACs':>12}{'instructions':>14}{'per MAC':>9}{'peak RAM':>10}"
    )
    for r in rows:
        peak = f"{r['ram_peak_bytes']:,}" if r["ram_peak_bytes"] else "-"
        print(
            f"{r['model']:<18}{r['core']:<8}{r['macs']:>12,}{r['instructions']:>14,}"
            f"{r['per_mac']:>9.2f}{peak:>10}"
        )


def measure(out, cores):
    """(rows of models.json, rows of its operators)."""
    files = model_files(out / "models")
    models = {name: microzo.load(str(file)) for name, file in files.items()}
    counted = {**models, "kinds": costs.rare_kinds()}
    file = out / "models.bin"
    file.write_bytes(image(counted))
    ram = {name: on_board(path) for name, path in files.items()} if BOARD in cores else {}
    rows, operators = [], []
    for core in cores:
        found = count(CORES[core], out / "obj" / core, file)
        for name, model in counted.items():
            made = list(layers(core, name, model, found))
            operators += made
            if name in models:
                rows.append(row(core, name, made, ram.get(name)) | dict(pairs(name, found)))
    return rows, operators


def write(out, rows, operators):
    """models.json, and layers.json with a row for each operator."""
    for name, data in (("models.json", rows), ("layers.json", operators)):
        (out / name).write_text(json.dumps(data, indent=1) + "\n")


def main():
    """Counts, writes, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--core", action="append", choices=CORES, help="default: all that can be built"
    )
    parser.add_argument("--table", action="store_true", help="write assets/costs.json too")
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    rows, operators = measure(args.out, args.core or available())
    write(args.out, rows, operators)
    show(rows)
    costs.write(operators, args.out, args.table)


if __name__ == "__main__":
    sys.exit(main())
