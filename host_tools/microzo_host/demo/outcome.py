"""What the demo found: replay on the host, the table, result.json, pass or fail."""

import dataclasses
import pathlib
import tempfile

import rich.table

from .. import replay


@dataclasses.dataclass
class Outcome:
    """Of one corruption: the runs by recipe, whether their journals replay, back-propagation."""

    name: str
    runs: dict
    identical: bool
    bp: float


def replays(model_path, case, runs):
    """Whether base model + journal gives, bit for bit, what the board trained, for every run."""
    data = case.files["train_x.npy"], case.files["train_y.npy"]
    with tempfile.TemporaryDirectory() as folder:
        journal, adapted = pathlib.Path(folder, "journal"), pathlib.Path(folder, "adapted")
        for run in runs:
            journal.write_bytes(run.journal)
            adapted.write_bytes(run.adapted)
            result = replay.replay(model_path, journal, data, adapted)
            if not (result.identical and result.confirmed):
                return False
    return True


def result(outcomes, instructions):
    """The content of result.json."""
    runs = [run for outcome in outcomes for run in outcome.runs.values()]
    return {
        "corruptions": {
            o.name: {
                "zero_shot": o.runs["default"].before,
                "default": o.runs["default"].after,
                "forward_only": o.runs["forward_only"].after,
                "bp": o.bp,
            }
            for o in outcomes
        },
        "ram_peak_bytes": max(run.ram_peak for run in runs),
        "ram_limit_bytes": runs[0].ram_limit,
        "replay_identical": all(o.identical for o in outcomes),
        "steps": outcomes[0].runs["default"].steps,
        "instructions_per_step": instructions,
    }


def problems(found):
    """Sentences: why the demo failed; nothing if it passed."""
    for name, row in found["corruptions"].items():
        if row["default"] < row["zero_shot"]:
            yield f"{name}: default ended at {row['default']} %, below {row['zero_shot']} % before"
    if not found["replay_identical"]:
        yield "a journal replayed on the host gives other weights than the board"
    if found["ram_peak_bytes"] > found["ram_limit_bytes"]:
        yield f"RAM peak {found['ram_peak_bytes']:,} exceeds {found['ram_limit_bytes']:,} bytes"


def table(outcomes):
    """The table that ends the demo."""
    shown = rich.table.Table(title="Accuracy in per cent on corrupted images, before and after")
    for column in ("corruption", "before", "default", "forward_only", "back-propagation"):
        shown.add_column(column, justify="left" if column == "corruption" else "right")
    for o in outcomes:
        default, forward = o.runs["default"], o.runs["forward_only"]
        cells = [f"{value:.1f}" for value in (default.before, default.after, forward.after)]
        shown.add_row(o.name, *cells, "-" if o.bp is None else f"{o.bp:.1f}")
    return shown


def summary(outcomes, found, stage):
    """Lines below the table."""
    steps = {recipe: run.steps for recipe, run in outcomes[0].runs.items()}
    yield "steps: " + ", ".join(f"{recipe} {count}" for recipe, count in steps.items())
    share = 100 * found["ram_peak_bytes"] / found["ram_limit_bytes"]
    peak, limit = found["ram_peak_bytes"], found["ram_limit_bytes"]
    yield f"peak RAM: {peak:,} of {limit:,} bytes ({share:.0f} %)"
    yield f"instructions per step of {stage} (32 samples): {found['instructions_per_step']:,}"
    yield f"journal replay: {'identical' if found['replay_identical'] else 'DIFFERENT'}"
