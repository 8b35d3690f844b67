"""What `microzo report` tells of one run: figures, rows of tables, pictures."""

import dataclasses

import numpy as np

import microzo

from .. import replay
from ..model import checks, names
from ..model import file as modelfile
from ..plan import predict, work
from ..plan import ram as ramplan
from . import pictures
from . import trace as tracing

SHOWN = 12  # samples in a picture


@dataclasses.dataclass(frozen=True)
class Report:
    """facts: what json can hold; pictures: {file name: PNG}; live: what curves.js draws."""

    facts: dict
    pictures: dict
    live: dict


def report(files, target, romfs=False, tell=lambda done, total: None):
    """The Report of runfiles.Files; target: the plan.ram.Target that it is said to run on."""
    model = modelfile.read(files.model)
    trace = tracing.trace(files.model, files.journal, files.data, files.test, tell)
    x, y = checks.data(*(files.test or files.data), model)
    classes = names.of(model)
    plan = ramplan.of_program(files.model, trace.program, target.ram, romfs, target.core)
    before, after = trace.predictions
    mended, spoilt = _changed(y, before, after)
    drawn = {
        "curves.png": pictures.curves(trace),
        "confusion.png": pictures.confusion(y, before, after, classes),
        "memory.png": pictures.memory(plan.parts, target.ram),
    }
    for name, index in (("mended.png", mended[:SHOWN]), ("spoilt.png", spoilt[:SHOWN])):
        if len(index):
            captions = [f"{classes[before[i]]} \u2192 {classes[after[i]]}" for i in index]
            drawn[name] = pictures.samples(x[index], captions)
    facts = {
        "model": str(files.model),
        "journal": str(files.journal),
        "measured_on": "test" if files.test else "training",
        "samples_measured": len(y),
        "before": 100 * float((before == y).mean()),
        "after": 100 * float((after == y).mean()),
        "mended": len(mended),
        "spoilt": len(spoilt),
        "recipe": trace.program["recipe"],
        "seed": trace.seed,
        "board_id": trace.board_id,
        "steps": trace.steps,
        "samples": trace.program["samples"],
        "held_out": trace.program["samples"] - trace.program["train"],
        "replay": _verdict(files, trace),
        "stages": _stages(trace, plan, predict.times(files.model, plan, target)),
        "settings": trace.program["stages"],
        "notes": trace.program["notes"],
        "cost": _cost(files, trace, plan, target),
        "memory": {"parts": plan.parts, "peak": plan.peak, "ram": target.ram},
    }
    return Report(facts, drawn, live(trace))


def live(trace):
    """The curves as curves.js takes them."""
    series = []
    for name, loss, accuracy in (
        ("training samples", "loss", "accuracy"), ("test samples", "test_loss", "test_accuracy"),
    ):  # fmt: skip
        points = [p for p in trace.points if getattr(p, loss) is not None]
        if points:
            series.append({
                "name": name,
                "loss": [[p.number, round(getattr(p, loss), 5)] for p in points],
                "accuracy": [[p.number, round(100 * getattr(p, accuracy), 3)] for p in points],
            })  # fmt: skip
    stages = [
        {"kind": s.kind, "begin": s.begin, "end": s.end, "kept": s.kept} for s in trace.stages
    ]
    return {"series": series, "stages": stages}


def _changed(y, before, after):
    """Numbers of the samples that were wrong and are right, and of those that are wrong now."""
    return np.flatnonzero((before != y) & (after == y)), np.flatnonzero(
        (before == y) & (after != y)
    )


def _verdict(files, trace):
    """A sentence: whether base model and journal lead to what the board trained."""
    if trace.confirmed is None:
        return "the run was not finished: there is nothing to compare with"
    if not trace.confirmed:
        return "different: the journal does not lead to the values that the board ended with"
    if files.adapted is None:
        return "identical: the journal leads to the values that the board ended with, bit for bit"
    saved = replay.saved(trace.model)
    with open(files.adapted, "rb") as file:
        same = file.read() == saved
    if same:
        return "identical: the journal leads to the adapted model file, byte for byte"
    return f"different: {files.adapted} is not what the journal leads to"


def _stages(trace, plan, times):
    """A row for each stage."""
    model = microzo.load(str(trace.model.path))
    rows = []
    for i, spec in enumerate(trace.program["stages"]):
        outcome = trace.stages[i] if i < len(trace.stages) else None
        n = work.seen(spec, trace.program)
        passes = sum(item[3] for item in work.items(model.plan, spec, n) if item[0] == "pass")
        rows.append({
            "kind": spec["kind"],
            "ops": spec.get("ops", []),
            "steps": spec["steps"],
            "outcome": _outcome(outcome),
            "before": _percent(outcome and outcome.before),
            "after": _percent(outcome and outcome.after),
            "passes": passes,
            "macs": work.stage_macs(model.plan, spec, n, True),
            "seconds": times["seconds_step"][spec["kind"]] * spec["steps"],
        })  # fmt: skip
    return rows


def _outcome(outcome):
    if outcome is None:
        return "not begun"
    return {True: "kept", False: "rolled back", None: "not finished"}[outcome.kept]


def _percent(pair):
    return 100 * pair[0] / pair[1] if pair else None


def _cost(files, trace, plan, target):
    times = predict.times(files.model, plan, target)
    model = microzo.load(str(files.model))
    return {
        "forwards": work.forwards(model.plan, trace.program),
        "macs": work.macs(model.plan, trace.program),
        "seconds": times["seconds_run"],
        "core": target.core,
        "clock": target.clock,
        "journal_bytes": files.journal.stat().st_size,
    }
