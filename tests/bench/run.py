"""Instruction counts of the kernels on emulated cores: `make bench`.

Writes build/bench/kernels.json, step.json and default.json and prints them as tables.
"""

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import baremetal
import figures
import goals
import nets as bench_nets
from cores import CORES, available

OUT = baremetal.ROOT / "build" / "bench"


class NotRepeatable(Exception):
    """Two runs of the same program counted differently."""


def count(core, folder, image, portable):
    """What a core needs, counted twice."""
    elf = baremetal.build(core, folder, portable=portable)
    first, second = (figures.parse(core, baremetal.run(core, elf, image)) for _ in range(2))
    if first != second:
        different = [key for key in first if first[key] != second.get(key)]
        raise NotRepeatable(f"{core.name}: {different[:5]}")
    return first


def table(title, rows, columns):
    """Prints rows, a list of (label, {column: text})."""
    width = max(len(label) for label, _ in rows) + 2
    print(f"\n{title:<{width}}" + "".join(f"{name:>16}" for name in columns))
    for label, cells in rows:
        print(f"{label:<{width}}" + "".join(f"{cells.get(name, ''):>16}" for name in columns))


def print_kernels(rows, cores):
    """A line for each kernel and layer; a figure above its target is marked."""
    lines = {}
    for row in rows:
        goal = goals.limit(row["core"], row["kernel"], row["layer"])
        text = f"{row['per_mac']:.2f}"
        if goal:
            text += f" {'!' if row['per_mac'] > goal else '<'} {goal}"
        label = f"{row['kernel']:<26}{row['layer']}"
        lines.setdefault(label, {})[row["core"]] = text
    shown = sorted(lines.items(), key=lambda line: line[0][:26])
    table("instructions per MAC, weight, output", shown, cores)
    print("'! x' misses the target x")


def print_steps(steps):
    """A line for each network and core."""
    columns = ("instructions", "in kernels", "in Python", "per sample", "no pools, loss")
    late = ("a pair", "its node pair", "node gradient")
    lines = []
    for step in steps:
        keys = ("instructions", "in_kernels", "in_python", "per_sample", "without_pools_and_loss")
        cells = {c: f"{step[k]:,}" for c, k in zip(columns, keys, strict=True) if k in step}
        if step["net"] == "test network":
            goal = goals.STEP[goals.COLUMN[step["core"]]]
            missed = step["without_pools_and_loss"] > goal * 1e6
            cells["target, M"] = f"{'!' if missed else '<'} {goal}"
        lines.append((f"{step['net']}, {step['core']}", cells))
    table("training step", lines, (*columns, "target, M"))
    lines = []
    for step in steps:
        keys = ("last_conv_probe", "last_conv_node_probe", "last_conv_node_gradient")
        cells = {c: f"{step[k]:,}" for c, k in zip(late, keys, strict=True) if k in step}
        if cells:
            lines.append((f"{step['net']}, {step['core']}", cells))
    table("from its last convolution on", lines, late)


def print_default(parts):
    """A line for each part of the recipe `default`."""
    total = sum(parts.values())
    lines = [(part, {"instructions, M": f"{n / 1e6:,.0f}"}) for part, n in parts.items()]
    mark = "!" if total > goals.DEFAULT else "<"
    cells = {
        "instructions, M": f"{total / 1e6:,.0f}",
        "target, M": f"{mark} {goals.DEFAULT / 1e6:,.0f}",
    }
    table(
        "`default`, demo network, m4", [*lines, ("total", cells)], ("instructions, M", "target, M")
    )


def main():
    """Counts, writes, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--core", action="append", choices=CORES, help="default: all that can be built"
    )
    parser.add_argument("--portable", action="store_true", help="the portable C kernels")
    parser.add_argument("--no-demo", action="store_true", help="leave the demo network out")
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    names = args.core or available()
    nets = bench_nets.all_nets()
    args.out.mkdir(parents=True, exist_ok=True)
    image = args.out / "nets.bin"
    image.write_bytes(bench_nets.image(nets))
    rows, steps = [], []
    with ThreadPoolExecutor(2) as pool:
        jobs = {
            name: pool.submit(count, CORES[name], args.out / "obj" / name, image, args.portable)
            for name in names
        }
        for name, job in jobs.items():
            found = job.result()
            rows += figures.kernel_rows(name, nets, found)
            steps.append(figures.step_row(name, nets[-1][1], found))
    if not args.no_demo:
        import demo_step

        steps.append(figures.demo_step(demo_step.measure(args.out / "demo", "all")))
        for share in (0, 1):
            step = demo_step.measure(args.out / "demo", "last1", {"share": share}, warm=5)
            steps.append(figures.dense_step(step, share))
        import default_run

        parts = default_run.measure(args.out / "demo")
        (args.out / "default.json").write_text(json.dumps(parts, indent=1) + "\n")
        print_default(parts)
    for file, data in (("kernels.json", rows), ("step.json", steps)):
        (args.out / file).write_text(json.dumps(data, indent=1) + "\n")
    print_kernels(rows, names)
    print_steps(steps)


if __name__ == "__main__":
    sys.exit(main())
