"""Tables for the terminal."""

import rich.table
import rich.text

from microzo.net import arena
from microzo.net import words as L

from ..model import file as modelfile
from ..visible import visible


def simulated(rows):
    """Accuracy in per cent a corruption and recipe, before and after; the mean over seeds, the
    worst and the best seed; how much better than the first recipe, the mean of the same seeds."""
    first = rows[0]["recipe"] if rows else ""
    others = len({row["recipe"] for row in rows}) > 1
    table = rich.table.Table(
        box=None, pad_edge=False, caption="after: mean of the seeds; worst, best: of one seed"
    )
    for name in ("corruption", "recipe"):
        table.add_column(name, no_wrap=True)
    against = [f"to {first}"] if others else []
    for name in ("before %", "after %", "worst", "best", *against, "forwards", "RAM bytes"):
        table.add_column(name, justify="right")
    groups = {}
    for row in rows:
        key = row["corruption"], row["severity"], row["recipe"]
        groups.setdefault(key, []).append(row)
    for (corruption, severity, recipe), group in groups.items():
        good = {row["seed"]: row for row in group if not row["error"]}
        cells = [f"{corruption} {severity}" if severity else corruption, recipe]
        cells.append(f"{group[0]['before']:.2f}")
        if not good:
            table.add_row(*cells, "failed")
            continue
        values = [row["accuracy"] for row in good.values()]
        cells += [f"{v:.2f}" for v in (sum(values) / len(values), min(values), max(values))]
        if others:
            cells.append(
                _against(good, groups.get((corruption, severity, first), ()), recipe == first)
            )
        any_row = next(iter(good.values()))
        table.add_row(*cells, f"{any_row['forwards']}", f"{any_row['ram_bytes']}")
    return table


def _against(good, others, same):
    """Mean difference of the accuracies of the seeds that both have."""
    pairs = [
        good[row["seed"]]["accuracy"] - row["accuracy"]
        for row in others
        if row["seed"] in good and not row["error"]
    ]
    return "" if same or not pairs else f"{sum(pairs) / len(pairs):+.2f}"


def planned(plan):
    """The stages of a plan: what they train, their steps, what a step takes."""
    out = rich.table.Table(box=None, pad_edge=False)
    out.add_column("stage")
    out.add_column("operators", no_wrap=True)
    for name in ("steps", "MACs a step", "s a step"):
        out.add_column(name, justify="right")
    for stage in plan["stages"]:
        kind = stage["kind"]
        out.add_row(
            kind,
            ", ".join(map(str, stage.get("ops", ()))) or "-",
            str(stage["steps"]),
            f"{plan['macs_step'][kind]:,}",
            f"{plan['seconds_step'][kind]:.2f}",
        )
    macs, seconds = plan["macs_forward"], plan["seconds_forward"]
    out.add_row("a forward pass", "all", "", f"{macs:,}", f"{seconds:.3f}")
    return out


def compared(rows):
    """Layers of compare.compare(): how many values differ, or signal to noise."""
    out = rich.table.Table(box=None, pad_edge=False)
    out.add_column("layer")
    out.add_column("kind")
    for name in ("output", "values", "saturated"):
        out.add_column(name, justify="right")
    exact = rows and rows[0].differing is not None
    for name in ("differ", "most") if exact else ("SNR",):
        out.add_column(name, justify="right")
    for row in rows:
        last = (f"{row.differing:,}", f"{row.largest}") if exact else (f"{row.snr:.1f} dB",)
        shape = "x".join(map(str, row.shape))
        out.add_row(
            _name(row.name), row.kind, shape, f"{row.values:,}", f"{row.saturated:.1f} %", *last
        )
    return out


def layers(model, scales=False):
    """A model's layers: shapes, parameters, MACs as `plan` counts them, what can be trained;
    ``scales``: and the scales of outputs."""
    out = rich.table.Table(box=None, pad_edge=False)
    for name in ("layer", "kind"):
        out.add_column(name)
    for name in ("output", "weights", "MACs", *(("scale", "zero") if scales else ())):
        out.add_column(name, justify="right")
    out.add_column("trainable")
    for op in model.ops:
        d = described(model, op)
        shape = "x".join(map(str, d["output"]))
        more = (f"{d['scale']:.4g}", f"{d['zero_point']}") if scales else ()
        out.add_row(_name(d["name"]), d["kind"], shape, f"{d['weights']:,}", f"{d['macs']:,}",
                    *more, _told(d["trainable"]))  # fmt: skip
    return out


def _told(trainable):
    return ", ".join(["yes"] * bool(trainable) + [t for t in trainable if t == "realign"])


def described(model, op):
    """What there is to say of one layer, a dict."""
    words = modelfile.plan(model).tolist()
    base = L.op_base(op.tid)
    weighted = op.kind in modelfile.WEIGHTED
    trainable = []
    if weighted and not op.abs_sum:
        trainable = ["weights", "biases", "scales"] + ["realign"] * (op.stats is not None)
    return {
        "name": op.name, "kind": L.KIND_NAMES[op.kind], "output": [op.out_h, op.out_w, op.out_c],
        "weights": op.weight.size if weighted else 0, "macs": arena.macs(words, base),
        "scale": model.scales[op.out], "zero_point": op.out_zp, "trainable": trainable,
    }  # fmt: skip


def _name(text):
    """A name that stands in a file: neither markup nor a terminal's command."""
    return rich.text.Text(visible(text))
