"""What a sweep gives: flat rows, one a run, and one a step; as CSV and as JSON.

docs/reference/simulate.md tells what each column is; a test compares it with COLUMNS and
STEP_COLUMNS.
"""

import csv
import io
import json

import numpy as np

from . import networks, store

KEY = ("corruption", "severity", "seed", "recipe")
COLUMNS = (
    *KEY, "model", "samples", "test_images", "before", "accuracy", "gain", "steps", "forwards",
    "macs", "ram_bytes", "state_crc", "outcomes", "warnings", "error",
)  # fmt: skip
RESULT = ("samples", "accuracy", "forwards", "macs", "ram_bytes", "state_crc")
STEP_COLUMNS = (*KEY, "number", "stage", "step", "loss", "accuracy")


def rows(runs, results, before):
    """[dict of COLUMNS], one a run; what a failed run does not have is None."""
    return [_row(run, results[run], before[run.corruption, run.severity]) for run in runs]


def _row(run, result, before):
    row = dict.fromkeys(COLUMNS)
    row.update(_key(run))
    row["model"] = networks.NAMES[run.data] if run.own is None else run.own.model
    row.update(samples=run.samples, test_images=run.test_images)
    row.update(before=before, error=result.get("error", ""))
    if "error" in result:
        return row
    row.update({name: result[name] for name in RESULT})
    row.update(
        gain=round(result["accuracy"] - before, 3),
        steps=len(result["curve"]),
        outcomes="; ".join(result["outcomes"]),
        warnings="; ".join(result["warnings"]),
    )
    return row


def steps(runs, results):
    """[dict of STEP_COLUMNS], one a step of a run that did not fail."""
    return [
        {**_key(run), "number": number, "stage": stage, "step": step, "loss": loss,
         "accuracy": None if accuracy is None else round(100 * accuracy, 3)}
        for run in runs
        for number, (stage, step, loss, accuracy) in enumerate(results[run].get("curve", ()), 1)
    ]  # fmt: skip


def json_rows(runs, results, before):
    """`rows` with three more fields: ``recipe_settings``, the recipe as an object; ``wrong``, the
    numbers of the test samples that are wrong after training; ``curve``, a list for each of
    stage, step, loss and accuracy."""
    made = rows(runs, results, before)
    for run, row in zip(runs, made):
        result = results[run]
        right = store.unpacked(result.get("right", ""), run.test_images)
        row["recipe_settings"] = json.loads(run.made)
        row["wrong"] = np.flatnonzero(~right).tolist()
        own = steps([run], results)
        row["curve"] = {name: [s[name] for s in own] for name in STEP_COLUMNS[len(KEY) + 1 :]}
    return made


def csv_text(columns, made):
    """Rows as CSV, RFC 4180, with a line of names."""
    file = io.StringIO()
    writer = csv.DictWriter(file, columns)
    writer.writeheader()
    writer.writerows(made)
    return file.getvalue()


def _key(run):
    return {name: getattr(run, name) for name in KEY}
