"""From what firmware/bench.c prints to rows of kernels.json and step.json."""

from microzo.net import arena as planner
from microzo.net import words as L

SOURCES = {"int8": "int8", "master": "masters", "wide": "16w8a"}
# (measure, kernel, passes) of a dense layer that is first in a probe
PAIRS = (
    ("-pair", "antithetic pair", 2),
    ("-further-pair", "further pair", 2),
    ("-further-pass", "further pass", 1),
    ("-two", "two inputs", 2),
    ("-two-eps1", "pair of two inputs", 2),
)
UPDATES = {"update1": 1, "update2": 2, "update4": 4, "update8": 8, "update16": 16}


def parse(core, text):
    """{(network, operator, measure): instructions}"""
    found = {}
    for line in text.splitlines():
        parts = line.split()
        if len(parts) != 4 or not parts[3].isdigit():
            raise RuntimeError(f"{core.name}: {line}")
        net, op, measure, ticks = parts
        scale = core.per_tick if not measure.startswith("value") else 1
        found[net, int(op), measure] = round(int(ticks) * scale)
    return found


def _row(core, kernel, layer, macs, instructions):
    return {
        "core": core,
        "kernel": kernel,
        "layer": layer,
        "macs": macs,
        "instructions": instructions,
        "per_mac": round(instructions / macs, 3),
    }


def _layer_rows(core, net, name, found):
    """Rows of a network of one layer. Packing is a row of its own."""
    o = L.op_base(0)
    plan = net.plan
    macs, weights = planner.macs(plan, o), planner.row_len(plan, o) * plan[o + L.OUT_C]

    def count(measure):
        return found.get((name[:16], 0, measure), 0)

    for source, kernel in SOURCES.items():
        pack = count(source + "-pack")
        yield _row(core, kernel, name, macs, count(source) - pack)
        if pack:
            yield _row(core, f"pack {kernel}", name, weights, pack)
        for eps in (1, 3):
            perturbed = count(f"{source}-eps{eps}")
            if perturbed == 0:
                continue
            title = "" if eps == 1 else f" by {eps}"
            packed = count(f"{source}-eps{eps}-pack")
            added = packed - pack if pack else perturbed - count(source)
            yield _row(core, f"perturb {kernel}{title}", name, weights, added)
            if pack:
                yield _row(core, f"{kernel} perturbed{title}", name, macs, perturbed - packed)
        for measure, title, passes in PAIRS:
            if pair := count(source + measure):
                yield _row(core, f"{title} {kernel}", name, passes * macs, pair)
    for measure, n in UPDATES.items():
        title = f"update, {n} pair" + ("s" if n > 1 else "")
        yield _row(core, title, name, weights * n, count(measure))


def kernel_rows(core, nets, found):
    """All rows of kernels.json for one core."""
    rows = []
    for name, net in nets:
        if len(net.ops) == 1:
            rows += _layer_rows(core, net, name, found)
    # The same outputs from 4 and from 16 inputs: what is left without inputs.
    short, long = (
        found[name, 0, "int8"] - found[name, 0, "int8-pack"]
        for name in ("pw_4-32_14", "pw_16-32_14")
    )
    outputs = 14 * 14 * 32
    rows.append(_row(core, "output", "requantization", outputs, round(short - (long - short) / 3)))
    return rows


def step_row(core, net, found):
    """The row of step.json for the test network."""

    def count(measure, op=99):
        return found["test", op, measure]

    pools = [i for i, op in enumerate(net.ops) if op["KIND"] == L.AVGPOOL]
    extra = 2 * (sum(count("total", i) for i in pools) + count("loss"))
    whole = count("probe") + count("update")
    return {
        "core": core,
        "net": "test network",
        "instructions": whole,
        "in_kernels": whole,
        "in_python": 0,
        "per_sample": whole,
        "without_pools_and_loss": whole - extra,
        "probe_16w8a": count("probe-wide"),
        "update": count("update"),
        "last_conv_probe": count("late-probe"),
        "last_conv_node_probe": count("late-node"),
        "last_conv_node_gradient": count("late-node-grad"),
    }


def dense_step(step, share):
    """The row of step.json for the demo network's last layer alone, the prefix in the cache."""
    return {
        "core": "m4",
        "net": "its dense layer" + ", share" * share,
        "instructions": step.total,
        "per_sample": round(step.total / step.pairs),
        "samples": step.pairs,
        "operators": step.ops,
    }


def demo_step(step):
    """The row of step.json for a demo_step.Step, natmod on the M4F board."""
    return {
        "core": "m4",
        "net": "demo network",
        "instructions": step.total,
        "in_kernels": step.kernels,
        "in_python": step.total - step.kernels,
        "per_sample": round(step.total / step.pairs),
        "samples": step.pairs,
        "calls": step.calls,
        "operators": step.ops,
    }
