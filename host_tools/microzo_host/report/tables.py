"""Tables for the terminal."""

import rich.table
import rich.text

from microzo.net import arena
from microzo.net import words as L

from ..model import file as modelfile
from ..visible import visible


def simulated(rows):
    """Accuracy in per cent a corruption and recipe, before and after; the mean over seeds, the
    worst and the best seed."""
    table = rich.table.Table(
        box=None, pad_edge=False, caption="after: mean of the seeds; worst, best: of one seed"
    )
    for name in ("corruption", "recipe"):
        table.add_column(name, no_wrap=True)
    for name in ("before %", "after %", "worst", "best", "forwards", "RAM bytes"):
        table.add_column(name, justify="right")
    groups = {}
    for row in rows:
        key = f"{row['corruption']} {row['severity']}", row["recipe"]
        groups.setdefault(key, []).append(row)
    for (name, made_by), group in groups.items():
        values = [row["accuracy"] for row in group]
        table.add_row(
            name,
            made_by,
            f"{group[0]['before']:.2f}",
            *(f"{v:.2f}" for v in (sum(values) / len(values), min(values), max(values))),
            str(group[0]["forwards"]),
            str(group[0]["ram_bytes"]),
        )
    return table


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


def layers(model):
    """A model's layers: shapes, parameters, MACs as `plan` counts them,
    statistics."""
    out = rich.table.Table(box=None, pad_edge=False)
    for name in ("layer", "kind"):
        out.add_column(name)
    for name in ("output", "weights", "MACs"):
        out.add_column(name, justify="right")
    out.add_column("realign")
    words = modelfile.plan(model).tolist()
    for op, o in zip(model.ops, arena.bases(words)):
        weights = 0 if op.weight is None else op.weight.size
        macs = arena.macs(words, o)
        shape = f"{op.out_h}x{op.out_w}x{op.out_c}"
        realign = "yes" if op.stats is not None else ""
        out.add_row(
            _name(op.name), L.KIND_NAMES[op.kind], shape, f"{weights:,}", f"{macs:,}", realign
        )
    return out


def _name(text):
    """A name that stands in a file: neither markup nor a terminal's command."""
    return rich.text.Text(visible(text))
